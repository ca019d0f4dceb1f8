/** Temporary folders of tests, which are removed when nothing needs them any more. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** Returns a new folder for all tests of a file. To be called before the first of them. */
export function folderOfFile(): string {
  const folder = newFolder()
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Returns a new folder for the running test, which is removed after the hooks of the test. */
export function folderOfTest(): string {
  const folder = newFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const newFolder = (): string => mkdtempSync(path.join(os.tmpdir(), 'rollscope-test-'))

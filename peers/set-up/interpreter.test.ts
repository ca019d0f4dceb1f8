import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findPython } from './interpreter.ts'

const required = { versions: ['3.12', '3.13'], variable: 'PYTHON312' }

let folder: string
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-interpreters-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Creates a command that writes `output`, or fails if that is undefined. */
function command(name: string, output: string | undefined): string {
  const file = path.join(folder, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `#!/bin/sh\n${output === undefined ? 'exit 127' : `echo ${output}`}\n`)
  chmodSync(file, 0o755)
  return file
}

const on = (name: string, more: object = {}) => ({ NODE_ENV: 'test' as const, PATH: path.join(folder, name), ...more })

test('findPython takes the interpreter that the variable names, and no other', () => {
  const named = command('named/python', '3.13')
  command('path/python3.12', '3.12')
  expect(findPython(required, on('path', { PYTHON312: named }))).toBe(named)
  const older = command('older/python', '3.11')
  expect(() => findPython(required, on('path', { PYTHON312: older }))).toThrow(
    `Python 3.12 or 3.13 is required, and PYTHON312=${older} is 3.11`,
  )
})

test('findPython takes the first command of the PATH that starts with an accepted version', () => {
  expect(findPython(required, on('path'))).toBe('python3.12')
  command('newer/python3.13', '3.13')
  expect(findPython(required, on('newer'))).toBe('python3.13')
})

test('findPython takes the interpreter of pyenv, whose command on the PATH does not start', () => {
  command('shims/python3.12', undefined)
  const prefix = path.join(folder, 'versions', '3.12.1')
  const interpreter = command('versions/3.12.1/bin/python', '3.12')
  command('shims/pyenv', prefix)
  expect(findPython(required, on('shims'))).toBe(interpreter)
})

test('findPython reports what is missing and how to name an interpreter if none fits', () => {
  command('none/python3.12', '3.11')
  expect(() => findPython(required, on('none'))).toThrow(
    'Python 3.12 or 3.13 is required, and none of python3.12, python3.13 is one: install it, or name it with PYTHON312=/path/to/python',
  )
})

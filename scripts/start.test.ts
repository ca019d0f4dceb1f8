import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folderOfTest } from '#testing/files/folders.ts'

const STARTS = [
  ['npm start', ['scripts/start.js'], 'scripts/serve.ts'],
  ['npx rollscope', ['bin/rollscope.js', 'start'], 'bin/main.ts'],
] as const

test.each(STARTS)('%s without packages ends with the advice to install them', (_, parameters) => {
  const { status, stderr } = run(copyOfScripts(), parameters)
  expect(stderr).toBe('The packages of Rollscope are not installed. Run npm install first.\n')
  expect(status).toBe(3)
})

test.each(STARTS)('%s becomes the application, with limits of its memory', (_, parameters, application) => {
  const folder = copyOfScripts()
  mkdirSync(path.join(folder, 'node_modules'))
  symlinkSync(path.resolve('node_modules/node'), path.join(folder, 'node_modules', 'node'))
  writeFileSync(
    path.join(folder, application),
    'console.log(JSON.stringify([process.pid, process.env.MALLOC_ARENA_MAX, process.execArgv.slice(0, 2), process.argv.slice(2)]))',
  )
  const { pid, stdout, stderr } = run(folder, parameters)
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual([
    pid,
    '1',
    ['--max-semi-space-size=16', '--heap-growing-percent=100'],
    parameters.slice(1),
  ])
})

/** Returns a folder with the scripts that start the application, and without packages. */
function copyOfScripts(): string {
  const folder = folderOfTest()
  for (const name of ['bin', 'scripts', 'package.json']) cpSync(name, path.join(folder, name), { recursive: true })
  return folder
}

const run = (folder: string, parameters: readonly string[]) =>
  spawnSync(process.execPath, parameters, { cwd: folder, encoding: 'utf8' })

import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folderOfTest } from '#testing/files/folders.ts'

test.each([
  ['npm start', ['scripts/start.js']],
  ['npx rollscope', ['bin/rollscope.js', 'start']],
])('%s without packages ends with the advice to install them', (_, parameters) => {
  const folder = folderOfTest()
  for (const name of ['bin', 'scripts', 'package.json']) cpSync(name, path.join(folder, name), { recursive: true })
  const { status, stderr } = spawnSync(process.execPath, parameters, { cwd: folder, encoding: 'utf8' })
  expect(stderr).toBe('The packages of Rollscope are not installed. Run npm install first.\n')
  expect(status).toBe(3)
})

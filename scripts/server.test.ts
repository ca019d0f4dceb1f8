import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

/** Imports the server, and prints the names of the packages that modules of the application import. */
const LIST_PACKAGES = `
  import { registerHooks } from 'node:module'
  const names = new Set()
  registerHooks({
    resolve(name, context, next) {
      const resolved = next(name, context)
      const imported = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(resolved.url)?.[1]
      if (imported && !context.parentURL?.includes('node_modules')) names.add(imported)
      return resolved
    },
  })
  await import('./scripts/server.ts')
  console.log(JSON.stringify([...names].sort()))
`

test('A start of the application imports no package that its first page does not need', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', LIST_PACKAGES], {
    cwd: path.resolve(import.meta.dirname, '..'),
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual(['next', 'zod'])
})

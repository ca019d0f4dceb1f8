import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'

const require = createRequire(import.meta.url)
const removeComputedName: (source: string) => string = require('../smaller-zod.cjs')

test('The loader of zod removes the only computed name of a pattern from the installed zod', () => {
  const changed = removeComputedName(readFileSync('node_modules/zod/v4/mini/schemas.js', 'utf8'))
  expect(changed).toContain('const regex = undefined;')
  expect(changed).not.toContain('core.regexes')
})

test('The loader of zod refuses a module without the computed name', () => {
  expect(() => removeComputedName('export {}')).toThrow('has 0 × core.regexes[format], not 1')
})

import { expect, test } from 'vitest'
import { rooms } from './import-directions.ts'
import { importCycle, importsOf, readImports, readValueImports, violation } from './imports.ts'

const all = readImports('.')

test('imports follow the allowed directions, and every package has its folder', () => {
  expect(all.map(violation).filter((text) => text !== undefined)).toEqual([])
})

test('no file imports values of itself through other files', () => {
  const imports = readValueImports('.')
  expect(importCycle(imports)).toBeUndefined()
  expect([...imports.values()].flat().length).toBeGreaterThan(5_000)
  expect([...imports.values()].flat().filter((file) => !imports.has(file) && /\.tsx?$/.test(file))).toEqual([])
})

test('importCycle names the files of a cycle, and not those that lead to it', () => {
  const imports = { a: ['d', 'b'], b: ['c'], c: ['d', 'b'], d: [] }
  expect(importCycle(new Map(Object.entries(imports)))).toEqual(['b', 'c', 'b'])
  expect(importCycle(new Map(Object.entries({ ...imports, c: ['d'] })))).toBeUndefined()
})

test('the import check reads the tree: every folder has files, and there are many imports', () => {
  const empty = Object.keys(rooms).filter((room) => !all.some(({ file }) => file.startsWith(`${room}/`)))
  expect(empty).toEqual([])
  expect(all.length).toBeGreaterThan(200)
})

test.each([
  ['lib/trajectory/x.ts', 'react', 'is not a home of react'],
  ['lib/trajectory/x.ts', 'node:fs', 'is not a home of node:fs'],
  ['lib/trajectory/x.ts', '#lib/rollout/prompt/prompt.ts', 'may not import lib/rollout/prompt'],
  ['lib/trajectory/x.ts', '#lib/api/group.ts', 'lib/trajectory may not import lib/api'],
  ['lib/util/x.ts', '#lib/json/json-depth.ts', 'lib/util may not import lib/json'],
  ['lib/rollout/record/x.ts', '../../sglang/client/client.ts', 'may not import lib/sglang'],
  ['lib/templates/x.ts', './loss-mask/report.ts', 'may not import lib/templates/loss-mask'],
  ['lib/browser/x.ts', '#lib/server/config.ts', 'may not import lib/server'],
  ['components/token-view/x.tsx', '#lib/browser/queries.ts', 'may not import lib/browser'],
  ['components/token-view/x.tsx', '@tanstack/react-query', 'is not a home of @tanstack/react-query'],
  ['components/offline/x.tsx', '#components/shell/shell.tsx', 'may not import components/shell'],
  ['app/page.tsx', '#lib/server/services.ts', 'may not import lib/server'],
  ['app/api/x/route.ts', '#lib/sglang/client/client.ts', 'may not import lib/sglang'],
  ['lib/rollout/loop/x.ts', 'undici', 'is not a home of undici'],
  ['lib/elsewhere/x.ts', 'zod', 'is in no folder'],
])('%s importing %s is a violation', (file, specifier, text) => {
  expect(violation({ file, specifier })).toContain(text)
})

test('the import check recognizes every kind of import', () => {
  const source = `import a from 'a'\nimport type { b } from 'b'\nimport {\n  c,\n} from "c"\nimport 'd'\nexport * from 'e'\nexport { f } from 'f'\nconst g = await import('g')\n`
  expect(importsOf('x.ts', source).map(({ specifier }) => specifier)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
})

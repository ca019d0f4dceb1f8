import { expect, test } from 'vitest'
import { rooms } from './import-directions.ts'
import { importsOf, readImports, violation } from './imports.ts'

const all = readImports('.')

test('imports point one way, and every package has its home', () => {
  expect(all.map(violation).filter((text) => text !== undefined)).toEqual([])
})

test('the gate reads the tree: every room has files, and there are many imports', () => {
  const empty = Object.keys(rooms).filter((room) => !all.some(({ file }) => file.startsWith(`${room}/`)))
  expect(empty).toEqual([])
  expect(all.length).toBeGreaterThan(200)
})

test.each([
  ['lib/core/x.ts', 'react', 'is not a home of react'],
  ['lib/core/x.ts', 'node:fs', 'is not a home of node:fs'],
  ['lib/core/x.ts', '#lib/tito/prompt.ts', 'may not import lib/tito'],
  ['lib/tito/x.ts', '../sglang/client.ts', 'may not import lib/sglang'],
  ['lib/client/x.ts', '#lib/server/config.ts', 'may not import lib/server'],
  ['components/trajectory/x.tsx', '#lib/client/queries.ts', 'may not import lib/client'],
  ['components/trajectory/x.tsx', '@tanstack/react-query', 'is not a home of @tanstack/react-query'],
  ['app/page.tsx', '#lib/server/services.ts', 'may not import lib/server'],
  ['app/api/x/route.ts', '#lib/sglang/client.ts', 'may not import lib/sglang'],
  ['lib/agent/x.ts', 'undici', 'is not a home of undici'],
  ['lib/elsewhere/x.ts', 'zod', 'stands in no room'],
])('%s importing %s is a violation', (file, specifier, text) => {
  expect(violation({ file, specifier })).toContain(text)
})

test('every way of importing is seen', () => {
  const source = `import a from 'a'\nimport type { b } from 'b'\nimport {\n  c,\n} from "c"\nimport 'd'\nexport * from 'e'\nexport { f } from 'f'\nconst g = await import('g')\n`
  expect(importsOf('x.ts', source).map(({ specifier }) => specifier)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
})

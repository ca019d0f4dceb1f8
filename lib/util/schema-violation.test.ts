import { expect, test } from 'vitest'
import * as z from 'zod'
import { schemaViolation, violationText } from './schema-violation.ts'

const said = (schema: z.ZodType, value: unknown): string => {
  const result = schema.safeParse(value)
  return result.success ? 'accepted' : violationText(schemaViolation(result.error, value))
}

test.each<[z.ZodType, unknown, string]>([
  [
    z.strictObject({ a: z.int() }),
    { a: 1, b: 2, 'c d': 3 },
    'expected no key "b", "c d", found an object with a, b, c d',
  ],
  [z.object({ 'a b': z.object({ c: z.int() }) }), { 'a b': { c: null } }, '["a b"].c: expected a number, found null'],
  [z.number().max(3), 4, 'expected at most 3, found 4'],
  [z.array(z.number()), [Number.NaN], '[0]: expected a number, found NaN'],
  [z.int(), Number.NEGATIVE_INFINITY, 'expected a number, found -Infinity'],
  [z.int(), `${'x'.repeat(78)}🙂`, `expected a number, found "${'x'.repeat(78)}… (80 characters)`],
  [z.array(z.int()).max(1), [1, 2], 'expected at most 1, found an array of 2'],
  [z.string().regex(/^x/, 'a text that begins with x'), 'y', 'expected a text that begins with x, found "y"'],
  [z.union([z.string(), z.int()]), true, 'expected a string or a number, found true'],
  [
    z.union([z.string(), z.strictObject({ a: z.int() })]),
    { a: 1, b: 2 },
    'expected no key "b", found an object with a, b',
  ],
  [
    z.union([z.strictObject({ mcp: z.string() }), z.strictObject({ schema: z.object({}) })]),
    { schema: 'x' },
    'schema: expected an object, found "x"',
  ],
  [
    z.union([z.strictObject({ a: z.int() }), z.strictObject({ b: z.int(), c: z.int(), d: z.int() })]),
    { d: 1 },
    'b: expected a number, found nothing',
  ],
  [
    z.union([z.strictObject({ a: z.int() }), z.strictObject({ b: z.int(), c: z.int(), d: z.int() })]),
    {},
    'a: expected a number, found nothing',
  ],
  [
    z.object({
      force: z.union([
        z.strictObject({ alternative: z.int() }),
        z.strictObject({ text: z.string() }),
        z.strictObject({ ids: z.array(z.int()) }),
      ]),
    }),
    { force: { text: 'a', ids: [1] } },
    'force: expected no key "ids", found an object with text, ids',
  ],
  [z.union([z.literal(1), z.literal(2)]), 3, 'expected a different kind of value, found 3'],
  [
    z.union([z.string(), z.object({ a: z.union([z.string(), z.object({ b: z.int() })]) })]),
    { a: { b: 'x' } },
    'a.b: expected a number, found "x"',
  ],
  [
    z.object({ a: z.record(z.string().regex(/^\d+$/, 'a token id in decimal'), z.string()) }),
    { a: { '395:': 'lo' } },
    'a["395:"]: expected a key that is a token id in decimal, found "395:"',
  ],
  [
    z.object({ a: z.int() }).refine(({ a }) => a > 1, { message: 'a number above 1 in "a"' }),
    { a: 1 },
    'expected a number above 1 in "a", found an object with a',
  ],
  [z.object({ a: z.object({ b: z.int() }) }), { a: undefined }, 'a: expected an object, found nothing'],
])('schemaViolation names path, expectation and value in case %#', (schema, value, expected) => {
  expect(said(schema, value)).toBe(expected)
})

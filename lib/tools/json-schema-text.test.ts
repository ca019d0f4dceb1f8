import { expect, test } from 'vitest'
import { schemaProblem } from './json-schema-text.ts'

test.each([
  ['{"type": "array", "items": {"type": "number"}}', undefined],
  ['{"type": "objct"}', 'As JSON Schema: type: expected one of string'],
  ['{"$ref": "#/nowhere"}', 'a position in this schema'],
  ['{', undefined],
  ['', undefined],
])('schemaProblem checks %s', (text, words) => {
  const problem = schemaProblem(text)
  if (words === undefined) expect(problem).toBeUndefined()
  else expect(problem).toContain(words)
})

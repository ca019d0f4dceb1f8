import { expect, test } from 'vitest'
import { llama3 } from '../json/llama3.ts'
import { pythonic } from '../python/pythonic.ts'
import { textInRange } from '../test-draw.ts'
import { markupIn } from './rest.ts'

const marks = (parser: typeof llama3, text: string, shielded = [{ start: text.length, end: text.length + 1 }]) =>
  markupIn(text, parser.parse(text, shielded, []), shielded, parser).map((range) => [
    range.kind,
    textInRange(text, range),
  ])

test('markupOfRuns names the kind of markup around the calls of a run', () => {
  expect(marks(pythonic, '[f(), g()]')).toEqual([
    ['open', '['],
    ['between', ', '],
    ['close', ']'],
  ])
  expect(marks(llama3, '{"name": "f", "parameters": {}}{"name": "g", "parameters": {}}')).toEqual([])
})

test('markupOfRuns ignores markup that begins in a think block', () => {
  expect(marks(pythonic, '[f(), g()]', [{ start: 4, end: 6 }])).toEqual([
    ['open', '['],
    ['close', ']'],
  ])
  expect(marks(pythonic, '[f(), g()]', [{ start: 9, end: 10 }])).toEqual([
    ['open', '['],
    ['between', ', '],
  ])
})

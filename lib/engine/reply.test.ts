import fc from 'fast-check'
import { expect, test } from 'vitest'
import { alternativeColumns, listedAlternatives } from '#lib/trajectory/tokens/alternatives.ts'
import type { TopColumns } from './columns.ts'
import { replyReader } from './reply.ts'

const FLOAT32_MINIMUM = -3.4028234663852886e38

/** Returns the chunk of a reply of tokens with these alternatives. */
const chunkOf = (tokens: number, outputTop: TopColumns) =>
  replyReader({ vocabularySize: 100, inputIds: [1] }).read({
    columns: {
      output: { ids: Array.from({ length: tokens }, () => 1), logprobs: Array.from({ length: tokens }, () => -1) },
      outputTop,
    },
  })

const cell = fc.oneof(
  fc.constant([-1, Number.NaN] as const),
  fc.tuple(fc.nat({ max: 99 }), fc.constantFrom(-1.5, -0, 0, FLOAT32_MINIMUM, Number.NaN, Number.NEGATIVE_INFINITY)),
  { arbitrary: fc.tuple(fc.nat({ max: 99 }), fc.double({ min: -50, max: 0, noNaN: true })), weight: 8 },
)

test('alternatives in typed arrays are checked and stored as alternatives in lists are', () => {
  const cells = fc.integer({ min: 1, max: 4 }).chain((k) =>
    fc.nat({ max: 4 }).chain((tokens) =>
      fc.record({
        k: fc.constant(k),
        tokens: fc.constant(tokens),
        cells: fc.array(cell, { minLength: k * tokens, maxLength: k * tokens }),
      }),
    ),
  )
  fc.assert(
    fc.property(cells, ({ k, tokens, cells }) => {
      const ids = cells.map(([id]) => id)
      const logprobs = cells.map(([, logprob]) => (Number.isNaN(logprob) ? null : logprob))
      const arrays = listedAlternatives(
        k,
        Int32Array.from(ids),
        Float64Array.from(cells, ([, logprob]) => logprob),
      )
      expect(chunkOf(tokens, arrays)).toEqual(chunkOf(tokens, { k, ids, logprobs }))
    }),
  )
})

test('alternatives stay in typed arrays if they are stored unchanged, also those of a position without any', () => {
  const arrays = listedAlternatives(2, Int32Array.of(-1, -1, 3, 4), Float64Array.of(Number.NaN, Number.NaN, -1, 0))
  const { topLogprobs } = chunkOf(2, arrays).tokens
  expect(topLogprobs && alternativeColumns(topLogprobs)).toBeDefined()
  expect(topLogprobs?.logprobs).toEqual([null, null, -1, 0])
})

test.each([
  ['in lists', (ids: readonly number[], logprobs: readonly number[]): TopColumns => ({ k: 2, ids, logprobs })],
  [
    'in typed arrays',
    (ids: readonly number[], logprobs: readonly number[]) =>
      listedAlternatives(2, Int32Array.from(ids), Float64Array.from(logprobs)),
  ],
])('alternatives %s that the tokenizer does not have are kept, and the first of a reply is reported', (_, columns) => {
  const reader = replyReader({ vocabularySize: 100, inputIds: [1, 2], logprobStartLen: 0 })
  const input = { ids: [1, 2], logprobs: [null, -1] }
  const part = (ids: readonly number[], alternatives: readonly number[]) => ({
    isIncrement: true as const,
    columns: {
      output: { ids, logprobs: ids.map(() => -1) },
      outputTop: columns(
        alternatives,
        alternatives.map(() => -1),
      ),
    },
  })
  const { columns: output } = part([5], [5, 99])
  const first = reader.read({ columns: { ...output, input, inputTop: columns([1, 2, 100, 2], [-1, -1, -1, -1]) } })
  const problem = { kind: 'alternative', column: 'topLogprobs' }
  const message = (id: number) =>
    `The server returned the alternative ${id}, but the last id of the chosen tokenizer is 99.`
  expect(first.prompt?.problems).toEqual([{ ...problem, index: 1, raw: '100', message: message(100) }])
  expect(first.problems).toEqual([])
  const second = reader.read(part([6, 7], [6, 2, 7, 1234]))
  expect(second.problems).toEqual([{ ...problem, index: 2, raw: '1234', message: message(1234) }])
  expect(second.tokens.topLogprobs?.ids).toEqual([6, 2, 7, 1234])
  expect(reader.read(part([8], [8, 1234])).problems).toEqual([])
})

test('alternatives with the logarithm of no probability are refused', () => {
  const text =
    'the server returned the logprob 0.5, which is not the logarithm of a probability, among the alternatives'
  expect(() => chunkOf(1, { k: 1, ids: [1], logprobs: [0.5] })).toThrow(text)
  expect(() => chunkOf(1, listedAlternatives(1, Int32Array.of(1), Float64Array.of(0.5)))).toThrow(text)
})

test('alternatives of another number of tokens are refused', () => {
  expect(() => chunkOf(3, listedAlternatives(1, Int32Array.of(1), Float64Array.of(-1)))).toThrow(
    'the server sent alternatives for 1 of 3 tokens',
  )
})

test('a stream that later repeats other ids is refused, because nobody knows which ones the model sampled', () => {
  const ids = fc.array(fc.nat({ max: 99 }), { minLength: 2, maxLength: 20 })
  const part = (ids: readonly number[], isLast: boolean) => ({
    columns: { output: { ids, logprobs: ids.map(() => -1) } },
    completionTokens: ids.length,
    ...(isLast && { finish: { kind: 'stop' } as const }),
  })
  fc.assert(
    fc.property(ids, fc.nat(), fc.nat(), (ids, cut, place) => {
      const sent = 1 + (cut % (ids.length - 1))
      const read = (whole: readonly number[]) => {
        const reader = replyReader({ vocabularySize: 100, inputIds: [1] })
        const first = reader.read(part(ids.slice(0, sent), false)).tokens.ids
        return [...first, ...reader.read(part(whole, true)).tokens.ids]
      }
      expect(read(ids)).toEqual(ids)
      const odd = place % sent
      const other = ((ids[odd] ?? 0) + 1) % 100
      expect(() => read(ids.with(odd, other))).toThrow(
        `the server first sent token id ${ids[odd]} at position ${odd} of its reply, and later ${other}`,
      )
    }),
  )
})

test('a last part that is sent again is no other part', () => {
  const reader = replyReader({ vocabularySize: 100, inputIds: [1] })
  const last = {
    columns: { output: { ids: [3, 4], logprobs: [-1, -1] } },
    completionTokens: 2,
    finish: { kind: 'stop' } as const,
  }
  expect(reader.read(last).tokens.ids).toEqual([3, 4])
  expect(reader.read(last).tokens.ids).toEqual([])
})

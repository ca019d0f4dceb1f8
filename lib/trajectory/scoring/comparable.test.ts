import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import type { ColumnMeaning, ResponseSegment, Segment } from '../format/trajectory.ts'
import { logprobWords } from '../tokens/column-roles.ts'
import {
  type Comparison,
  compareKinds,
  convertLogprob,
  kindText,
  type LogprobKind,
  logprobKind,
  whyNotComparable,
} from './comparable.ts'

const requestWith = (samplingParams: Readonly<Record<string, unknown>>) =>
  ({ samplingParams }) as NonNullable<ResponseSegment['request']>
const why = (samplingParams: Readonly<Record<string, unknown>>) =>
  whyNotComparable({ request: requestWith(samplingParams) })

test('whyNotComparable names only parameters that change sampled logprobs', () => {
  expect(
    why({ top_p: 0.5, top_k: 3, min_p: 0.1, max_new_tokens: 5, repetition_penalty: 1, logit_bias: null }),
  ).toBeUndefined()
  expect(why({})).toBeUndefined()
  expect(why({ temperature: 0 })).toBeUndefined()
  expect(why({ temperature: null, logit_bias: {}, custom_params: {} })).toBeUndefined()
  expect(why({ logit_bias: { 1: 5 } })).toBe('sampled with logit_bias')
  expect(why({ temperature: 0.7 })).toBe('sampled at temperature 0.7')
  expect(why({ presence_penalty: 0.1, regex: 'a' })).toBe('sampled with presence_penalty, regex')
  const read = { samplingParams: {}, read: { kept: 1, ids: [2] } } as never
  expect(whyNotComparable({ request: read })).toBe('sampled after different tokens than the recorded ones')
  expect(whyNotComparable({})).toBe('the file does not contain the sampling parameters')
})

test('Raw sampled logprobs are comparable at any temperature, unless the server read other tokens', () => {
  const raw = { columnMeanings: { logprobs: { quantity: 'logprob', values: 'raw' } } } as const
  expect(whyNotComparable({ request: requestWith({ temperature: 0.7, regex: 'a' }) }, raw)).toBeUndefined()
  expect(whyNotComparable({}, raw)).toBeUndefined()
  const read = { samplingParams: {}, read: { kept: 1, ids: [2] } } as never
  expect(whyNotComparable({ request: read }, raw)).toBe('sampled after different tokens than the recorded ones')
  expect(whyNotComparable({ request: requestWith({ temperature: 0.7 }) }, {})).toBe('sampled at temperature 0.7')
})

const response = (samplingParams?: Readonly<Record<string, unknown>>): Segment => ({
  kind: 'response',
  ids: [1],
  thinks: [],
  toolCalls: [],
  ...(samplingParams && { request: requestWith(samplingParams) }),
})
const ownKind = (segment: Segment, meaning?: ColumnMeaning) =>
  logprobKind(meaning ? { columnMeanings: { logprobs: meaning } } : {}, 'logprobs', segment)
const trainer = (meanings: Readonly<Record<string, ColumnMeaning>>) =>
  logprobKind({ columnMeanings: meanings }, 'trainerLogprobs', response())

test('Sampled logprobs are processed at the temperature of their request, and raw at temperature 1 or 0', () => {
  expect(ownKind(response({ temperature: 0.7 }))).toEqual({ kind: 'processed', temperature: 0.7 })
  expect(ownKind(response({ temperature: 1 }))).toEqual({ kind: 'raw' })
  expect(ownKind(response({ temperature: 0 }))).toEqual({ kind: 'raw' })
  expect(ownKind(response({}))).toEqual({ kind: 'raw' })
  expect(ownKind({ kind: 'prompt', ids: [1], messages: [] })).toEqual({ kind: 'raw' })
  expect(ownKind(response())).toMatchObject({ kind: 'unknown' })
  expect(ownKind(response({ temperature: 'hot' }))).toMatchObject({ kind: 'unknown' })
})

test('The recorded meaning of a column decides its kind before the request does', () => {
  expect(ownKind(response({ temperature: 0.7 }), { quantity: 'logprob', values: 'raw' })).toEqual({ kind: 'raw' })
  expect(ownKind(response(), { quantity: 'logprob', values: 'processed', temperature: 0.6 })).toEqual({
    kind: 'processed',
    temperature: 0.6,
  })
  expect(ownKind(response(), { quantity: 'logprob', values: 'processed' })).toMatchObject({ kind: 'unknown' })
})

test('Sampled logprobs after a penalty belong to no temperature, unless they are raw', () => {
  expect(ownKind(response({ presence_penalty: 1 }))).toEqual({
    kind: 'changed',
    why: 'sampled with presence_penalty',
  })
  expect(ownKind(response({ presence_penalty: 1 }), { quantity: 'logprob', values: 'raw' })).toEqual({ kind: 'raw' })
})

test('Sampled logprobs of a resumed response have a kind only if all of its calls sampled alike', () => {
  const resumed = (first: Segment, ...others: readonly Readonly<Record<string, unknown>>[]): Segment => ({
    ...first,
    ...(first.kind === 'response' && {
      resumed: others.map((samplingParams, index) => ({ at: index, request: requestWith(samplingParams) })),
    }),
  })
  expect(ownKind(resumed(response({ temperature: 1 }), {}, { temperature: 0 }))).toEqual({ kind: 'raw' })
  expect(ownKind(resumed(response({ temperature: 0.7 }), { temperature: 0.7 }))).toEqual({
    kind: 'processed',
    temperature: 0.7,
  })
  expect(ownKind(resumed(response({ temperature: 1 }), { temperature: 0.7 }))).toEqual({
    kind: 'changed',
    why: 'sampled by calls at several temperatures',
  })
  expect(ownKind(resumed(response({ temperature: 1 }), { presence_penalty: 1 }))).toEqual({
    kind: 'changed',
    why: 'sampled with presence_penalty',
  })
  expect(ownKind(resumed(response(), { temperature: 1 }))).toMatchObject({ kind: 'unknown' })
  expect(
    ownKind(resumed(response({ temperature: 1 }), { temperature: 0.7 }), { quantity: 'logprob', values: 'raw' }),
  ).toEqual({ kind: 'raw' })
})

test('A column of the trainer has the kind of its meaning, with the temperature of its normaliser', () => {
  expect(trainer({})).toEqual({
    kind: 'unknown',
    why: 'the file does not say whether the trainer’s logprobs are raw or processed',
  })
  const raw = { quantity: 'logprob', values: 'raw', normaliser: 'n' } as const
  expect(trainer({ trainerLogprobs: raw, n: { quantity: 'normaliser', temperature: 0.7 } })).toEqual({
    kind: 'raw',
    normaliser: { column: 'n', temperature: 0.7 },
  })
  expect(trainer({ trainerLogprobs: raw })).toEqual({ kind: 'raw' })
  const processed = { quantity: 'logprob', values: 'processed', temperature: 0.7, normaliser: 'n' } as const
  expect(trainer({ trainerLogprobs: processed })).toEqual({
    kind: 'processed',
    temperature: 0.7,
    normaliser: { column: 'n', temperature: 0.7 },
  })
})

const raw: LogprobKind = { kind: 'raw' }
const at = (temperature: number): LogprobKind => ({ kind: 'processed', temperature })
const withNormaliser = (kind: LogprobKind, temperature: number): LogprobKind =>
  ({ ...kind, normaliser: { column: 'n', temperature } }) as LogprobKind
const converted = (comparison: Comparison) =>
  comparison.kind === 'converted' ? comparison.conversions.map(({ side, to }) => `${side} to ${to}`) : comparison.kind

test('Columns of the same kind are compared as they are', () => {
  expect(compareKinds(raw, raw)).toEqual({ kind: 'same', as: 'raw' })
  expect(compareKinds(at(0.7), at(0.7))).toEqual({ kind: 'same', as: 'processed at T 0.7' })
})

test('Columns of different kinds are refused without a normaliser of the same temperature', () => {
  expect(compareKinds(raw, at(0.7))).toEqual({ kind: 'refused', why: 'processed at T 0.7 and raw' })
  expect(compareKinds(withNormaliser(raw, 0.9), at(0.7)).kind).toBe('refused')
  expect(compareKinds(at(0.9), at(0.7)).kind).toBe('refused')
  expect(compareKinds(withNormaliser(at(0.9), 0.9), at(0.7)).kind).toBe('refused')
  expect(compareKinds(withNormaliser(at(0.9), 0.5), raw).kind).toBe('refused')
})

test('A normaliser converts raw logprobs to the other temperature, or processed ones to raw', () => {
  expect(converted(compareKinds(withNormaliser(raw, 0.7), at(0.7)))).toEqual(['numerator to processed'])
  expect(converted(compareKinds(at(0.7), withNormaliser(raw, 0.7)))).toEqual(['denominator to processed'])
  expect(converted(compareKinds(raw, withNormaliser(at(0.7), 0.7)))).toEqual(['denominator to raw'])
  expect(converted(compareKinds(withNormaliser(at(0.9), 0.9), withNormaliser(at(0.7), 0.7)))).toEqual([
    'numerator to raw',
    'denominator to raw',
  ])
})

test('A column of unknown kind is compared with a caveat, and a changed one is refused', () => {
  const unknown: LogprobKind = { kind: 'unknown', why: 'not said' }
  const changed: LogprobKind = { kind: 'changed', why: 'sampled with regex' }
  expect(compareKinds(unknown, at(0.7))).toEqual({ kind: 'assumed', why: 'not said' })
  expect(compareKinds(raw, unknown)).toEqual({ kind: 'assumed', why: 'not said' })
  expect(compareKinds(unknown, changed)).toEqual({ kind: 'refused', why: 'sampled with regex' })
  expect([unknown, changed].map(kindText)).toEqual(['kind unknown', 'sampled with regex'])
})

const golden = z
  .object({
    conversions: z.array(
      z.object({
        temperature: z.number(),
        normaliser: z.number(),
        raw: z.array(z.number()),
        processed: z.array(z.number()),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync('lib/analysis/ratios/golden/ratios.json', 'utf8')))

test('Both conversions with a normaliser give the logprobs that numpy computes from the logits', () => {
  for (const { temperature, normaliser, raw: raws, processed } of golden.conversions)
    for (const [index, value] of raws.entries()) {
      const by = { side: 'numerator', normaliser: { column: 'n', temperature } } as const
      expect(convertLogprob(value, { ...by, to: 'processed' }, normaliser)).toBeCloseTo(processed[index] ?? NaN, 12)
      expect(convertLogprob(processed[index] ?? NaN, { ...by, to: 'raw' }, normaliser)).toBeCloseTo(value, 12)
    }
})

test('Conversions are exact for any logits, and do not depend on a constant that is added to them', () => {
  const logits = fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(
      logits,
      fc.double({ min: 0.2, max: 3, noNaN: true }),
      fc.integer({ min: -50, max: 50 }),
      (all, T, c) => {
        const logSum = (values: readonly number[]) => {
          const most = Math.max(...values)
          return most + Math.log(values.reduce((sum, value) => sum + Math.exp(value - most), 0))
        }
        const rawOf = (values: readonly number[]) => values.map((value) => value - logSum(values))
        const shifted = all.map((value) => value + c)
        const raws = rawOf(shifted)
        const processed = rawOf(all.map((value) => value / T))
        const normaliser = logSum(raws.map((value) => value / T))
        const by = { side: 'numerator', to: 'processed', normaliser: { column: 'n', temperature: T } } as const
        for (const [index, value] of raws.entries())
          expect(convertLogprob(value, by, normaliser)).toBeCloseTo(processed[index] ?? NaN, 8)
      },
    ),
  )
})

test.each<[column: string, meaning: ColumnMeaning | undefined, words: string]>([
  ['old_log_probs', undefined, 'the trainer’s logprobs'],
  ['ref-logprobs', undefined, 'the reference logprobs'],
  ['other', undefined, 'the logprobs of the column other'],
  ['a', { quantity: 'logprob', model: 'rollout' }, 'the rescored logprobs'],
  ['a', { quantity: 'logprob', model: 'trainer' }, 'the trainer’s logprobs'],
  ['a', { quantity: 'logprob', model: 'reference' }, 'the reference logprobs'],
  ['a', { quantity: 'logprob', model: 'teacher' }, 'the teacher’s logprobs'],
  ['a', { quantity: 'logprob' }, 'the logprobs of the column a'],
  ['trainerLogprobs', { quantity: 'entropy' }, 'the logprobs of the column trainerLogprobs'],
])('Sentences call the column %s with the meaning %o %s', (column, meaning, words) => {
  expect(logprobWords({ ...(meaning && { columnMeanings: { [column]: meaning } }) }, column)).toBe(words)
})

/** Tests that every entry of every array belongs to the token that the format documents. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { trajectories } from '#testing/trajectories.ts'
import { trainerFormats } from '../registry.ts'
import { type TokenField, type TrainingRow, valueAtPath } from './training-row.ts'

/** Returns the file's entry for each token: its value, the default where nothing is written, or undefined. */
function entriesOf(record: object, { parts }: TokenField, count: number): unknown[] {
  const entries: unknown[] = Array.from({ length: count }, () => undefined)
  for (const part of parts) {
    const array = part.kind === 'array' ? (valueAtPath(record, part.path) as readonly unknown[]) : undefined
    const width = part.kind === 'array' ? (part.width ?? 1) : 1
    if (array) expect(array.length).toBe(width * (part.tokens.end - part.tokens.start))
    for (let token = part.tokens.start; token < part.tokens.end; token++) {
      expect(entries[token]).toBeUndefined()
      entries[token] = array ? array[width * (token - part.tokens.start)] : part.kind === 'implied' && part.value
    }
  }
  return entries
}

function rowsOf(name: string, trajectory: Trajectory): { readonly record: object; readonly row: TrainingRow } {
  const format = trainerFormats.find((one) => one.name === name)
  const record = format?.write(trajectory).value ?? {}
  const rows = format?.rows(record, trajectory) ?? []
  expect(rows).toHaveLength(1)
  return { record, row: rows[0] as TrainingRow }
}

const UNTRAINED_PROMPT: ReadonlySet<string> = new Set(['slime', 'verl', 'skyrl'])

/** Formats in which 0 means no logprob at untrained tokens. */
const FILLED: ReadonlySet<string> = new Set(['slime', 'torchrl', 'verl', 'skyrl'])

test.each(trainerFormats.map(({ name }) => name))('%s: training rows map arrays back to the tokens', (name) => {
  fc.assert(
    fc.property(trajectories, (trajectory) => {
      const { record, row } = rowsOf(name, trajectory)
      const all = ids(trajectory)
      const scores = logprobs(trajectory)
      const mask = lossMask(trajectory)
      // These formats cannot mark a token of the first prompt as trained, and report that as lost.
      const [first] = row.fields.find(({ meaning }) => meaning === 'mask')?.parts ?? []
      if (UNTRAINED_PROMPT.has(name) && first?.kind === 'implied') mask.fill(0, first.tokens.start, first.tokens.end)
      for (const field of row.fields) {
        const entries = entriesOf(record, field, all.length)
        if (field.meaning === 'ids') expect(entries).toEqual(all)
        if (field.meaning === 'mask') expect(entries.map(Number)).toEqual(mask)
        if (field.meaning === 'logprobs')
          for (const [token, entry] of entries.entries())
            if (entry !== undefined) expect(entry).toBe(scores[token] ?? (FILLED.has(name) ? 0 : null))
      }
      for (const { path, tokens } of row.lengths)
        expect(lengthIn(valueAtPath(record, path))).toBe(tokens.end - tokens.start)
    }),
  )
})

/** A number, or the sum of a list of segments. */
const lengthIn = (stated: unknown): unknown =>
  Array.isArray(stated) ? stated.reduce((sum: number, [, length]) => sum + length, 0) : stated

test('training rows name the arrays of a sample', () => {
  const named = (name: string) =>
    rowsOf(name, sample).row.fields.map((field) => [
      field.name,
      ...field.parts.map(
        (part) => `${part.tokens.start}-${part.tokens.end}${part.kind === 'implied' ? ` = ${part.value}` : ''}`,
      ),
    ])
  expect(named('strands-sglang')).toEqual([
    ['token_ids', '0-12'],
    ['loss_mask', '0-12'],
    ['logprobs', '0-12'],
  ])
  expect(named('slime')).toEqual([
    ['tokens', '0-12'],
    ['loss_mask', '0-3 = 0', '3-12'],
    // One trained token has none, and slime needs all or none.
    ['rollout_log_probs'],
  ])
  expect(named('torchrl')).toEqual([
    ['tokens.full', '0-12'],
    ['masks.all_attention_mask', '0-12'],
    ['masks.all_assistant_mask', '0-12'],
    // slime has the same restriction.
    ['log_probs.full'],
  ])
  expect(named('rollscope')).toEqual([
    ['segments[].ids', '0-3', '3-8', '8-10', '10-12'],
    ['segments[].mask', '0-3 = 0', '3-8 = 1', '8-10 = 0', '10-12'],
    ['segments[].logprobs', '0-3', '3-8'],
    ['segments[].columns.entropy', '10-12'],
    ['segments[].topLogprobs.ids', '3-8'],
    ['segments[].topLogprobs.logprobs', '3-8'],
  ])
})

test('training rows include a column named like a JavaScript property only where it exists', () => {
  const [prompt, response] = sample.segments
  if (!prompt || !response) throw new Error('the sample has both')
  const columns = { constructor: [1, 2, 3, 4, 5] }
  const { row } = rowsOf('rollscope', { ...sample, segments: [prompt, { ...response, columns }] })
  expect(row.fields.find(({ name }) => name.endsWith('constructor'))?.parts).toHaveLength(1)
})

test('training rows have no entries for missing arrays', () => {
  expect(valueAtPath({ a: null }, ['b', 'c'])).toBeUndefined()
})

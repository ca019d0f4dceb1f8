/** Compares runs whose ids and logprobs are drawn, and checks what the comparison says of them. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { spreadOf } from '../spread.ts'
import { compareReplies } from './reply-comparison.ts'

type Meanings = NonNullable<Trajectory['columnMeanings']>

/** A run: the lengths and kinds of its segments, its ids, and its logprobs. */
interface Drawn {
  readonly prompt?: readonly number[]
  readonly reply: readonly number[]
  readonly logprobs?: readonly (number | null)[]
  readonly sampling?: Readonly<Record<string, unknown>>
  readonly columns?: Readonly<Record<string, number[]>>
  readonly meanings?: Meanings
}

function runOf({
  prompt = [1, 2],
  reply,
  logprobs,
  sampling = { temperature: 0 },
  columns,
  meanings,
}: Drawn): Trajectory {
  const response = {
    kind: 'response',
    ids: [...reply],
    ...(logprobs && { logprobs: [...logprobs] }),
    ...(columns && { columns }),
    request: { server: 's', samplingParams: sampling, inputLength: prompt.length, inputHash: '', streamed: true },
    thinks: [],
    toolCalls: [],
  } as unknown as ResponseSegment
  const { columnMeanings: _, ...rest } = sampleTrajectory
  return {
    ...rest,
    ...(meanings && { columnMeanings: meanings }),
    segments: [{ kind: 'prompt', ids: [...prompt], messages: [] }, ...(reply.length > 0 ? [response] : [])],
  } as Trajectory
}

const RAW: Meanings = { logprobs: { quantity: 'logprob', model: 'rollout', values: 'raw', engine: 'vllm' } }

const id = fc.integer({ min: 0, max: 3 })
const drawnRun = fc
  .record({
    prompt: fc.array(id, { minLength: 1, maxLength: 4 }),
    reply: fc.array(id, { maxLength: 8 }),
    isRaw: fc.boolean(),
    temperature: fc.constantFrom(0, 0.7, 1),
  })
  .chain(({ prompt, reply, isRaw, temperature }) =>
    fc
      .array(fc.option(fc.double({ min: -9, max: 0, noNaN: true })), {
        minLength: reply.length,
        maxLength: reply.length,
      })
      .map((logprobs) =>
        runOf({ prompt, reply, logprobs, sampling: { temperature }, ...(isRaw && { meanings: RAW }) }),
      ),
  )

describe('properties of the comparison of two runs', () => {
  test('A run agrees with itself: no divergence, and no difference', () => {
    fc.assert(
      fc.property(drawnRun, (run) => {
        const { common, divergence, logprobs } = compareReplies(run, run)
        expect(common).toBe(run.segments.reduce((sum, { ids }) => sum + ids.length, 0))
        expect(divergence).toBeUndefined()
        expect(logprobs.spread?.max ?? 0).toBe(0)
        expect(logprobs.refused).toEqual([])
      }),
    )
  })

  test('The comparison is the same from both sides, and never mixes kinds', () => {
    fc.assert(
      fc.property(drawnRun, drawnRun, (a, b) => {
        const [there, back] = [compareReplies(a, b), compareReplies(b, a)]
        expect([back.common, back.divergence]).toEqual([there.common, there.divergence])
        expect(back.logprobs.spread).toEqual(there.logprobs.spread)
        const kindOf = (run: Trajectory) => {
          const [, response] = run.segments as readonly [unknown, ResponseSegment | undefined]
          const temperature = Number(response?.request?.samplingParams.temperature ?? 1)
          return run.columnMeanings || temperature === 0 ? 1 : temperature
        }
        if (kindOf(a) !== kindOf(b)) expect(there.logprobs.spread).toBeUndefined()
        else expect(there.logprobs.refused).toEqual([])
      }),
    )
  })
})

test('The divergence is in the prompt, in the reply, or where one of both ends', () => {
  const reference = runOf({ reply: [5, 6, 7] })
  const kindOf = (run: Trajectory) => compareReplies(reference, run).divergence
  expect(kindOf(runOf({ prompt: [1, 3], reply: [5, 6, 7] }))).toEqual({ token: 1, kind: 'prompt' })
  expect(kindOf(runOf({ reply: [5, 8, 7] }))).toEqual({ token: 3, kind: 'response' })
  expect(kindOf(runOf({ reply: [5, 6] }))).toEqual({ token: 4, kind: 'end' })
  expect(kindOf(runOf({ reply: [] }))).toEqual({ token: 2, kind: 'end' })
})

test('Only logprobs of tokens before the divergence are compared', () => {
  const { logprobs } = compareReplies(
    runOf({ reply: [5, 6, 7], logprobs: [-1, -2, -3] }),
    runOf({ reply: [5, 6, 8], logprobs: [-1.5, -2.25, -9], meanings: RAW }),
  )
  expect(logprobs).toEqual({
    spread: { tokens: 2, mean: 0.375, median: 0.5, p95: 0.5, p99: 0.5, max: 0.5 },
    kinds: ['raw'],
    assumed: [],
    refused: [],
  })
})

test('Processed and raw logprobs are refused with the reason, unless a normaliser converts them exactly', () => {
  const sampling = { temperature: 0.5 }
  const processed = runOf({ reply: [5, 6], logprobs: [-1, -2], sampling })
  const raw = runOf({ reply: [5, 6], logprobs: [-0.75, -1.5], sampling, meanings: RAW })
  expect(compareReplies(processed, raw).logprobs).toMatchObject({
    spread: undefined,
    refused: [{ why: 'processed at T 0.5 and raw', tokens: 2 }],
  })
  // processed = raw / T − N
  const normalised = runOf({
    reply: [5, 6],
    logprobs: [-0.75, -1.5],
    sampling,
    columns: { n: [-0.5, -1.25] },
    meanings: {
      logprobs: { quantity: 'logprob', model: 'rollout', values: 'raw', normaliser: 'n' },
      n: { quantity: 'normaliser', temperature: 0.5 },
    } as Meanings,
  })
  expect(compareReplies(processed, normalised).logprobs).toMatchObject({
    spread: { tokens: 2, max: 0.25 },
    kinds: ['T 0.5'],
    refused: [],
  })
})

test('Logprobs after a penalty are refused, those of an unknown kind are compared with a note, and a temperature means chance', () => {
  const plain = runOf({ reply: [5], logprobs: [-1] })
  const penalised = runOf({ reply: [5], logprobs: [-1], sampling: { temperature: 0, repetition_penalty: 1.1 } })
  expect(compareReplies(plain, penalised).logprobs.refused).toEqual([
    { why: 'sampled with repetition_penalty', tokens: 1 },
  ])
  const unknown = structuredClone(plain)
  delete (unknown.segments[1] as { request?: object }).request
  const { assumed, spread } = compareReplies(plain, unknown).logprobs
  expect(assumed).toEqual([expect.stringContaining('does not say')])
  expect(spread?.max).toBe(0)
  expect(compareReplies(plain, plain).chance).toBeUndefined()
  const drawn = runOf({ reply: [5], logprobs: [-1], sampling: { temperature: 1 } })
  expect(compareReplies(plain, drawn).chance).toContain('temperature 1')
})

test('The spread of no differences is undefined, and its values are in order otherwise', () => {
  expect(spreadOf(new Float64Array())).toBeUndefined()
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 9, noNaN: true }), { minLength: 1 }), (distances) => {
      const spread = spreadOf(Float64Array.from(distances).sort())
      const { tokens, mean, median, p95, p99, max } = spread as NonNullable<typeof spread>
      expect(tokens).toBe(distances.length)
      expect(max).toBe(Math.max(...distances))
      const values = [Math.min(...distances), median, p95, p99, max]
      expect(values.toSorted((a, b) => a - b)).toEqual(values)
      expect(mean).toBeLessThanOrEqual(max + 1e-12)
    }),
  )
})

/** Tests which rows share a pass, and what is copied for it: the engine over a model that only counts. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jobSamplingOf } from '#lib/builtin-server/generate/sampling-params.ts'
import type { KeyValues } from '#lib/builtin-server/models/key-values.ts'
import type { OnnxModel } from '#lib/builtin-server/models/onnx-model.ts'
import { batchesOf, createEngine, type Engine } from './engine.ts'
import type { Job, JobChunk } from './job.ts'
import { createTally } from './tally.ts'

const rowsOf = (lengths: readonly number[]) => lengths.map((length) => ({ sequence: { computed: () => length } }))
const lengthsOf = (rows: ReturnType<typeof rowsOf>) => rows.map(({ sequence }) => sequence.computed())
const lengths = fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 20 })

describe('Rows share a pass', () => {
  test('so that each row is in one pass, and padding is at most half of a row or 128 positions', () => {
    fc.assert(
      fc.property(lengths, (all) => {
        const batches = batchesOf(rowsOf(all), true).map(lengthsOf)
        expect(batches.flat().sort((a, b) => a - b)).toEqual(all.toSorted((a, b) => a - b))
        for (const batch of batches) {
          const longest = Math.max(...batch)
          expect(longest - Math.min(...batch)).toBeLessThanOrEqual(Math.max(128, longest / 2))
        }
      }),
    )
  })

  test('to their end if they all grow from one prompt', () => {
    const grown = fc.array(fc.nat(128), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4000 }), grown, (prompt, all) => {
        expect(batchesOf(rowsOf(all.map((written) => prompt + written)), true)).toHaveLength(1)
      }),
    )
  })

  test('only if the model respects padding', () => {
    expect(batchesOf(rowsOf([5, 5, 9]), false).map(lengthsOf)).toEqual([[5], [5], [9]])
  })
})

const VOCABULARY = 8

interface SeenPass {
  readonly ids: readonly (readonly number[])[]
  readonly past: KeyValues
  readonly result: KeyValues
}

/** Returns an engine whose passes are recorded; `onPass` runs before each. */
function counting(onPass: (engine: Engine, seen: readonly SeenPass[]) => void = () => {}, isPaddingInvariant = true) {
  const seen: SeenPass[] = []
  const chunks: { readonly key: number; readonly chunk: JobChunk }[] = []
  const keys = (rows: number, length: number): KeyValues => ({
    rows,
    length,
    tensors: [{ data: new Float32Array(rows * length), dims: [rows, 1, length, 1] }],
  })
  const model: OnnxModel = {
    contextLength: 100,
    empty: keys(1, 0),
    takesPadding: true,
    async forward(rows, past) {
      await new Promise((resolve) => setImmediate(resolve))
      onPass(engine, seen)
      const result = keys(rows.length, past.length + (rows[0]?.ids.length ?? 0))
      seen.push({ ids: rows.map(({ ids }) => ids), past, result })
      return { logits: rows.map(() => [Float32Array.from({ length: VOCABULARY }, (_, id) => id)]), keyValues: result }
    },
  }
  const engine = createEngine({
    model,
    isPaddingInvariant,
    vocabulary: { bytes: new Uint8Array(0), ends: new Uint32Array(VOCABULARY), specialIds: new Set() },
    stopIds: new Set(),
    capacity: { running: 4, waiting: 3, cacheBytes: 0 },
    grammars: () => Promise.reject(new Error('no grammars')),
    emit: (key, chunk) => chunks.push({ key, chunk }),
    tally: createTally(),
  })
  const job = (key: number, max_new_tokens: number): Job => ({
    key,
    promptIds: [key, key],
    sampling: jobSamplingOf({ max_new_tokens, temperature: 0 } as Parameters<typeof jobSamplingOf>[0], VOCABULARY),
    logprobs: undefined,
    chunkTokens: undefined,
  })
  const finished = (count: number) => expect.poll(() => chunks.filter(({ chunk }) => chunk.finish).length).toBe(count)
  const finishes = () => new Map(chunks.map(({ key, chunk }) => [key, chunk.finish?.kind]))
  return { engine, job, seen, chunks, finished, finishes }
}

describe('the engine', () => {
  test('copies nothing while the same rows continue', async () => {
    const { engine, job, seen, finished } = counting()
    for (const [key, tokens] of [3, 9, 9].entries()) engine.run(job(key, tokens))
    await finished(3)
    const decoding = seen.slice(3)
    expect(decoding.map(({ ids }) => ids.length)).toEqual([3, 3, 2, 2, 2, 2, 2, 2])
    const copies = decoding.filter(({ past }, index) => past !== decoding[index - 1]?.result)
    // Rows are copied when the three first share a pass, and when one has left.
    expect(copies).toEqual([decoding[0], decoding[2]])
  })

  test('gives every row its own pass if the model does not respect padding', async () => {
    const { engine, job, seen, finished } = counting(() => {}, false)
    for (const key of [0, 1]) engine.run(job(key, 5))
    await finished(2)
    expect(new Set(seen.map(({ ids }) => ids.length))).toEqual(new Set([1]))
  })

  test('accepts jobs while others write, up to its capacity, and refuses the rest', async () => {
    const { engine, job, seen, finished, finishes } = counting((_engine, passes) => {
      if (passes.length === 2) for (const key of [1, 2, 3, 4, 5, 6, 7]) engine.run(job(key, 3))
    })
    engine.run(job(0, 20))
    await finished(8)
    expect(Math.max(...seen.map(({ ids }) => ids.length))).toBe(4)
    expect(seen.filter(({ ids }) => ids[0]?.length === 2).map(({ ids }) => ids[0]?.[0])).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(finishes().get(7)).toBe('failed')
  })

  test('emits no further chunk of a row that was aborted during its pass', async () => {
    const { engine, job, chunks, finished, finishes } = counting((_engine, passes) => {
      if (passes.length === 4) engine.abort(0)
    })
    for (const key of [0, 1]) engine.run(job(key, 4))
    await finished(2)
    expect(chunks).toHaveLength(2)
    expect(finishes()).toEqual(
      new Map([
        [0, 'aborted'],
        [1, 'length'],
      ]),
    )
    // One id came after the prompt, two came from passes since; the fourth pass was under way.
    expect(chunks.find(({ key }) => key === 0)?.chunk.ids).toHaveLength(3)
  })

  test('fails only the rows of a pass that fails', async () => {
    let hasFailed = false
    const { engine, job, finished, finishes } = counting((_engine, passes) => {
      if (hasFailed || passes.length !== 1) return
      hasFailed = true
      throw new Error('out of memory')
    })
    for (const key of [0, 1, 2]) engine.run(job(key, 3))
    await finished(3)
    expect(finishes()).toEqual(
      new Map([
        [1, 'failed'],
        [0, 'length'],
        [2, 'length'],
      ]),
    )
  })
})

/** Trajectories of public/examples, and random ones that every format must be able to carry. For tests. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import type { RecordSource } from '#lib/formats/format.ts'
import { decode } from '#lib/trajectory/format/codec.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory as sample } from './sample-trajectory.ts'

/** Returns an example of public/examples, such as two-steps. */
export function exampleTrajectory(name: string): Trajectory {
  const decoded = decode(readFileSync(`public/examples/${name}.json`, 'utf8'))
  if (!decoded.ok) throw new Error(`the example ${name} cannot be read`)
  return decoded.trajectory
}

/** A source for format readers with a fixed time and id. */
export const source: RecordSource = { file: 'run.json', now: '2026-01-01T00:00:00.000Z', newId: () => 'new' }

/** Returns a source that numbers the ids of its trajectories. */
export function numberedSource(): RecordSource {
  let count = 0
  return { ...source, newId: () => `id ${count++}` }
}

const tokens = fc.array(
  fc.record({
    id: fc.integer({ min: 0, max: 200_000 }),
    logprob: fc.option(fc.double({ min: -1e30, max: 0, noNaN: true }).map((n) => n + 0)),
    bit: fc.constantFrom<0 | 1>(0, 1),
  }),
  { maxLength: 5 },
)

const segment = fc.tuple(fc.constantFrom('prompt' as const, 'response' as const), tokens, fc.boolean()).map(
  ([kind, all, hasMask]): Segment => ({
    ...(kind === 'prompt' ? { kind, messages: [] } : { kind, thinks: [], toolCalls: [] }),
    ids: all.map(({ id }) => id),
    logprobs: all.map(({ logprob }) => logprob),
    ...(hasMask && { mask: all.map(({ bit }) => bit) }),
  }),
)

/** Trajectories with up to six segments of random tokens, logprobs and masks. */
export const trajectories: fc.Arbitrary<Trajectory> = fc.array(segment, { maxLength: 6 }).map((segments) => ({
  ...sample,
  model: { tools: [] },
  vocab: {},
  segments,
}))

/** Returns what every format must keep: the kinds and ids of the segments. */
export const kindsAndIds = ({ segments }: Trajectory) => segments.map(({ kind, ids }) => ({ kind, ids }))

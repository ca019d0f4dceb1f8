/**
 * Runs the same conversations on the built-in server and on the real SGLang: directly, in both streaming modes, and through
 * the router.
 */
import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { application, difference, type PeerRunSettings, tokenColumns } from '../set-up/application.ts'
import { conversations } from './conversations.ts'

const places = inject('places')
const rollscope = application(places.application)

const SERVERS = ['sglang', 'incremental', 'router'] as const
const LOGPROB_TOLERANCE = 1e-3

let builtIn: readonly Trajectory[]
beforeAll(async () => {
  for (const name of SERVERS) await rollscope.addServer(name, places[name])
  builtIn = await all({ server: 'built-in', stream: true })
})

async function all(settings: PeerRunSettings): Promise<Trajectory[]> {
  const made: Trajectory[] = []
  for (const conversation of conversations) made.push(await rollscope.converse(conversation, settings))
  return made
}

const problemsOf = ({ problems = [], segments }: Trajectory) => [
  ...problems,
  ...segments.flatMap((s) => s.problems ?? []),
]

test('the built-in server’s conversations have calls, further turns and no problems', () => {
  for (const [index, trajectory] of builtIn.entries()) {
    expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(problemsOf(trajectory)).toEqual([])
    expect(trajectory.segments.length).toBeGreaterThanOrEqual(2 * (conversations[index]?.prompts.length ?? 0))
  }
  const calls = builtIn.flatMap(({ segments }) => segments.flatMap((s) => (s.kind === 'response' ? s.toolCalls : [])))
  expect(calls.length).toBeGreaterThanOrEqual(8)
  expect(calls.some(({ result }) => result?.status === 'error')).toBe(true)
})

describe.each(SERVERS.flatMap((server) => [true, false].map((stream) => ({ server, stream }))))(
  '$server, streamed: $stream,',
  ({ server, stream }) => {
    test('gives the same ids, the same mask and nearly the same logprobs as the built-in server', async () => {
      const trajectories = await all({ server, stream, tokenizer: places.peers.model })
      const differences = trajectories.map((trajectory, index) => {
        const ours = tokenColumns(builtIn[index] as Trajectory)
        const theirs = tokenColumns(trajectory)
        expect(theirs.ids).toEqual(ours.ids)
        expect(theirs.mask).toEqual(ours.mask)
        expect(theirs.logprobs.map((value) => value === null)).toEqual(ours.logprobs.map((value) => value === null))
        expect(problemsOf(trajectory)).toEqual([])
        return difference(theirs.logprobs, ours.logprobs)
      })
      const largest = Math.max(...differences.map((found) => found.largest))
      const compared = differences.reduce((sum, found) => sum + found.compared, 0)
      console.log(
        `${server}, ${stream ? 'streamed' : 'plain'}: ${compared} logprobs, largest difference ${largest.toExponential(1)}`,
      )
      expect(largest).toBeLessThan(LOGPROB_TOLERANCE)
    })
  },
)

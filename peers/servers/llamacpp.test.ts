/** Runs the same conversations on the built-in server and on the real llama.cpp, whose address is all that Rollscope is given. */
import { beforeAll, expect, inject, test } from 'vitest'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { application, difference } from '../set-up/application.ts'
import { conversations } from './conversations.ts'

const { application: address, server } = inject('llamacpp')
const rollscope = application(address)

const LOGPROB_TOLERANCE = 1e-3
/** Two tokens whose logprobs differ by at most this much are a near-tie, which rounding decides. */
const NEAR_TIE = 1e-3

beforeAll(async () => {
  await rollscope.addServer('llamacpp', server)
})

/** Returns the alternatives of a token in the whole trajectory, by id. */
function alternativesAt({ segments }: Trajectory, index: number): ReadonlyMap<number, number | null> {
  let start = 0
  for (const { ids, topLogprobs: top } of segments) {
    const offset = index - start
    if (offset < ids.length && top) {
      const cells = Array.from({ length: top.k }, (_, cell) => offset * top.k + cell)
      return new Map(cells.map((cell) => [top.ids[cell] ?? -1, top.logprobs[cell] ?? null]))
    }
    start += ids.length
  }
  return new Map()
}

/** Returns the difference of the logprobs of two tokens at a position; infinity if one is not among its alternatives. */
function gapAt(trajectory: Trajectory, index: number, ids: readonly (number | undefined)[]): number {
  const alternatives = alternativesAt(trajectory, index)
  const [a, b] = ids.map((id) => (id === undefined ? null : (alternatives.get(id) ?? null)))
  return typeof a === 'number' && typeof b === 'number' ? Math.abs(a - b) : Number.POSITIVE_INFINITY
}

/** Returns the greedy reply of llama.cpp to these ids, as a trajectory of one prompt and one response. */
async function replyTo(ids: readonly number[]): Promise<Trajectory> {
  const sampling = { temperature: 0, max_new_tokens: 512 }
  const run = await rollscope.post('/api/rollouts', { server: 'llamacpp', tokenizer: 'server', ids, sampling })
  const key = encodeURIComponent(run.headers.get('x-trajectory-id') ?? '')
  await run.text()
  const decoded = decodeValue(await (await rollscope.get(`/api/trajectories/${key}`)).json())
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.error))
  return decoded.trajectory
}

test('Every greedy reply of six conversations has the same ids and nearly the same logprobs as on the built-in server', async () => {
  let largest = 0
  let compared = 0
  let ties = 0
  let replies = 0
  expect(conversations).toHaveLength(6)
  for (const conversation of conversations) {
    const ours = await rollscope.converse(conversation, { server: 'built-in', stream: true })
    const context: number[] = []
    for (const segment of ours.segments) {
      if (segment.kind === 'response') {
        const theirs = await replyTo(context)
        const response = theirs.segments.at(-1)
        if (response?.kind !== 'response') throw new Error('llama.cpp gave no reply')
        expect(theirs.columnMeanings?.logprobs).toMatchObject({ values: 'raw', engine: 'llama.cpp' })
        expect(response.usage?.cachedTokens).toBeGreaterThanOrEqual(0)
        const at = segment.ids.findIndex((id, index) => id !== response.ids[index])
        if (at >= 0) {
          const pair = [segment.ids[at], response.ids[at]]
          const place = context.length + at
          const gap = Math.max(gapAt(ours, place, pair), gapAt(theirs, place, pair))
          expect(gap, `token ${place}`).toBeLessThanOrEqual(NEAR_TIE)
          ties++
        } else {
          expect(response.ids).toEqual(segment.ids)
          expect(response.finish).toEqual({ kind: 'stop', matched: segment.ids.at(-1) })
        }
        const end = at < 0 ? segment.ids.length : at
        const found = difference((segment.logprobs ?? []).slice(0, end), (response.logprobs ?? []).slice(0, end))
        largest = Math.max(largest, found.largest)
        compared += found.compared
        replies++
      }
      context.push(...segment.ids)
    }
  }
  const result = `${replies} replies, ${compared} logprobs, largest difference ${largest.toExponential(1)}, ${ties} near-ties`
  console.log(`llama.cpp: ${result}`)
  expect(compared).toBeGreaterThan(100)
  expect(largest).toBeLessThan(LOGPROB_TOLERANCE)
})

test('A server of which only the address is known gives a run with tools, by its own tokenizer and template', async () => {
  const [conversation] = conversations
  if (!conversation) throw new Error('there are no conversations')
  const trajectory = await rollscope.converse(conversation, { server: 'llamacpp', stream: true, tokenizer: 'server' })
  expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
  const calls = trajectory.segments.flatMap((segment) => (segment.kind === 'response' ? segment.toolCalls : []))
  expect(calls.map(({ result }) => result?.status)).toContain('success')
})

test('A request for prompt logprobs is refused before the run, with the remedy', async () => {
  const [conversation] = conversations
  if (!conversation) throw new Error('there are no conversations')
  await expect(
    rollscope.converse(conversation, { server: 'llamacpp', stream: false, promptLogprobs: true, tokenizer: 'server' }),
  ).rejects.toThrow(/422 .*NOT_IN_ENGINE.*promptLogprobs|422 .*promptLogprobs.*NOT_IN_ENGINE/s)
})

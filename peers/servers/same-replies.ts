/** Compares the greedy replies of a server with those of the built-in server, from the same ids. */
import { expect } from 'vitest'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type ApplicationClient, difference } from '../set-up/application.ts'
import { conversations } from './conversations.ts'

/** The result of a comparison. */
export interface Compared {
  readonly replies: number
  /** The number of compared logprobs, and the largest difference. */
  readonly compared: number
  readonly largest: number
  /** The number of replies that differ, each at a near-tie. */
  readonly ties: number
}

/**
 * Runs all conversations on the built-in server, and sends the ids before each of its replies to a server with raw logprobs. Its reply
 * must have the same ids, or differ first at a near-tie.
 */
export async function compareWithServer(
  rollscope: ApplicationClient,
  server: string,
  engine: string,
): Promise<Compared> {
  let largest = 0
  let compared = 0
  let ties = 0
  let replies = 0
  for (const conversation of conversations) {
    const ours = await rollscope.converse(conversation, { server: 'built-in', stream: true })
    const context: number[] = []
    for (const segment of ours.segments) {
      if (segment.kind === 'response') {
        const theirs = await replyTo(rollscope, server, context)
        const response = theirs.segments.at(-1)
        if (response?.kind !== 'response') throw new Error(`${server} gave no reply`)
        expect(theirs.columnMeanings?.logprobs).toMatchObject({ values: 'raw', engine })
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
  expect(compared).toBeGreaterThan(100)
  expect(largest).toBeLessThan(LOGPROB_TOLERANCE)
  return { replies, compared, largest, ties }
}

/** Returns a line that reports a comparison. */
export const comparedText = ({ replies, compared, largest, ties }: Compared): string =>
  `${replies} replies, ${compared} logprobs, largest difference ${largest.toExponential(1)}, ${ties} near-ties`

const LOGPROB_TOLERANCE = 1e-3
/** Two tokens whose logprobs differ by at most this much are a near-tie, which rounding decides. */
export const NEAR_TIE = 1e-3

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
export function gapAt(trajectory: Trajectory, index: number, ids: readonly (number | undefined)[]): number {
  const alternatives = alternativesAt(trajectory, index)
  const [a, b] = ids.map((id) => (id === undefined ? null : (alternatives.get(id) ?? null)))
  return typeof a === 'number' && typeof b === 'number' ? Math.abs(a - b) : Number.POSITIVE_INFINITY
}

/** Returns the greedy reply of a server to these ids, as a trajectory of one prompt and one response. */
async function replyTo(rollscope: ApplicationClient, server: string, ids: readonly number[]): Promise<Trajectory> {
  const sampling = { temperature: 0, max_new_tokens: 512 }
  const run = await rollscope.post('/api/rollouts', { server, tokenizer: 'server', ids, sampling })
  const key = encodeURIComponent(run.headers.get('x-trajectory-id') ?? '')
  await run.text()
  const decoded = decodeValue(await (await rollscope.get(`/api/trajectories/${key}`)).json())
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.error))
  return decoded.trajectory
}

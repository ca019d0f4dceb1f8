/** Provides tests with a model whose logprobs are known in closed form, and with trajectories that are drawn as text. */

import { compareTrajectories } from '#lib/trajectory/drift/compare.ts'
import { FORMAT, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { ScoreLine, ScoreRequest } from '#lib/trajectory/scoring/score.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { ComparedSides } from '../compare/compare-sides.ts'

/** The vocabulary of the model. The id of a piece is its index. */
export const PIECES = ['', 'a', 'b', 'c', 'aa', 'ab', 'ba', 'abc', 'bc', 'abab'] as const
const vocab = Object.fromEntries(PIECES.map((piece, id) => [id, piece]))

/** Returns the logprob of an id after the id `before` (a bigram model). Each number of `weights` is another checkpoint. */
export const bigramLogprob = (before: number, id: number, weights = 0): number =>
  -(1 + ((3 * before + 5 * id + weights) % 7)) / 4

/** Returns the prefill logprobs of all ids. The first one is NaN. */
export const prefill = (ids: readonly number[], weights = 0): Float64Array =>
  Float64Array.from(ids, (id, index) =>
    index === 0 ? Number.NaN : bigramLogprob(ids[index - 1] as number, id, weights),
  )

/** If `sampling` is given, responses have these sampling parameters, and their logprobs are those of prefill plus `noise`. */
interface Drawn {
  readonly sampling?: Readonly<Record<string, unknown>>
  readonly noise?: number
}

/** Returns a trajectory of the given ids. Even segments are prompts, odd ones are responses. */
export function bigramTrajectory(
  segments: readonly (readonly number[])[],
  { sampling, noise = 0 }: Drawn = {},
): Trajectory {
  const scores = prefill(segments.flat())
  let start = 0
  return {
    format: FORMAT,
    id: 'drawn',
    createdAt: '2026-01-01T00:00:00.000Z',
    model: { name: 'bigrams', tokenizer: { name: 'pieces', vocabularySize: PIECES.length, specialIds: [] }, tools: [] },
    vocab,
    outcome: { kind: 'ended', reason: 'end_turn' },
    provenance: sampleTrajectory.provenance,
    segments: segments.map((ids, index): Trajectory['segments'][number] => {
      const from = start
      start += ids.length
      if (index % 2 === 0) return { kind: 'prompt', ids: [...ids], messages: [] }
      return {
        kind: 'response',
        ids: [...ids],
        ...(sampling && {
          logprobs: ids.map((_, offset) => {
            const score = scores[from + offset] as number
            return Number.isNaN(score) ? null : score + noise
          }),
          request: { server: 's', samplingParams: sampling, inputLength: from, inputHash: '', streamed: true },
        }),
        thinks: [],
        toolCalls: [],
      }
    }) as Trajectory['segments'],
  }
}

/** Reads a drawing such as `a|b  ab|c`: a prompt and a response, with bars between the pieces. */
const segmentsOf = (drawing: string): number[][] =>
  drawing
    .split(/\s+/)
    .map((segment) => segment.split('|').map((piece) => PIECES.indexOf(piece as (typeof PIECES)[number])))

/** Returns the trajectory of a drawing such as `a|b  ab|c`. */
export const drawn = (drawing: string, options?: Drawn): Trajectory => bigramTrajectory(segmentsOf(drawing), options)

/** Compares two trajectories as they are recorded, without caveats. */
export const comparedOf = (left: Trajectory, right: Trajectory): ComparedSides => ({
  left: { trajectory: left, caveats: [] },
  right: { trajectory: right, caveats: [] },
  comparison: compareTrajectories(left, right),
})

/** Returns a `score` function that answers in portions, as a server does. It adds every request to `asked`; `weights` is by server name. */
export function scorer(
  asked: ScoreRequest[] = [],
  {
    weights = {},
    failAfter = Number.POSITIVE_INFINITY,
  }: {
    readonly weights?: Readonly<Record<string, number>>
    /** Number of portions before the server reports a failure. */
    readonly failAfter?: number
  } = {},
) {
  const PORTION = 2
  let portions = 0
  return async function* (request: ScoreRequest, signal: AbortSignal): AsyncGenerator<ScoreLine> {
    asked.push(request)
    const { ids, ranges = [], server = 's' } = request
    yield { kind: 'server', name: server, modelName: 'bigrams' }
    const scores = prefill(ids, weights[server])
    for (const { start, end } of ranges)
      for (let from = start; from < end; from += PORTION) {
        signal.throwIfAborted()
        if (portions++ === failAfter) {
          yield { kind: 'failed', code: 'UPSTREAM_ERROR', detail: 'the server crashed', hint: 'try again' }
          return
        }
        const part = scores.slice(from, Math.min(end, from + PORTION))
        yield {
          kind: 'scores',
          start: from,
          logprobs: Array.from(part, (score) => (Number.isNaN(score) ? null : score)),
          weightVersion: String(weights[server] ?? 0),
        }
      }
    yield { kind: 'done' }
  }
}

/** Chooses the positions of a trajectory from which it is sampled again. */
import { MOST_POSITIONS, type ValueRange } from '#lib/api/forest/value.ts'
import { isTrained, segmentStarts, segmentsOf, surprise, tokenAt, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt, type TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** Why positions cannot be chosen: a code, what is wrong, and what to do. */
interface PositionObstacle {
  readonly code: string
  readonly detail: string
  readonly hint: string
}

/** The chosen positions in ascending order, or why there are none. */
export type ChosenPositions =
  | { readonly ok: true; readonly positions: readonly number[] }
  | { readonly ok: false; readonly why: PositionObstacle }

/** Returns the positions of a range. Each is the index of a sampled token, before which the trajectory is continued anew. */
export function choosePositions(trajectory: TrajectoryView, range: ValueRange): ChosenPositions {
  if ('tokens' in range) return explicitPositions(trajectory, range.tokens)
  const { from = 0, to = Number.POSITIVE_INFINITY } = range
  const trained = trainedTokens(trajectory).filter(({ index }) => from <= index && index < to)
  if (trained.length === 0)
    return refused({
      code: 'NO_TRAINED_TOKENS',
      detail:
        from > 0 || Number.isFinite(to)
          ? `no trained token is in the range from ${from} to ${Math.min(to, tokenCount(trajectory))}`
          : 'the trajectory has no trained tokens',
      hint: 'Choose a range with sampled tokens, or explicit positions.',
    })
  if ('every' in range) return limited(trained.flatMap(({ index }, rank) => (rank % range.every === 0 ? [index] : [])))
  const scored = trained.flatMap(({ index, surprisal }) => (surprisal === null ? [] : [{ index, surprisal }]))
  if (scored.length === 0)
    return refused({
      code: 'NO_LOGPROBS',
      detail: 'the trained tokens have no logprobs, so none is the most surprising',
      hint: 'Choose every k-th trained token, or explicit positions.',
    })
  return limited(
    scored
      .sort((a, b) => b.surprisal - a.surprisal || a.index - b.index)
      .slice(0, range.surprising)
      .map(({ index }) => index)
      .sort((a, b) => a - b),
  )
}

function explicitPositions(trajectory: TrajectoryView, tokens: readonly number[]): ChosenPositions {
  const positions = [...new Set(tokens)].sort((a, b) => a - b)
  for (const at of positions) {
    const token = tokenAt(trajectory, at)
    if (!token)
      return refused({
        code: 'OUTSIDE',
        detail: `there is no token ${at}: the trajectory has ${tokenCount(trajectory)}`,
        hint: 'Choose a sampled token.',
      })
    if (token.segment.kind !== 'response')
      return refused({
        code: 'NOT_SAMPLED',
        detail: `token ${at} is in a prompt, and the model did not choose it`,
        hint: `Choose a sampled token: ${nextSampled(trajectory, at)}.`,
      })
  }
  return limited(positions)
}

function nextSampled(trajectory: TrajectoryView, at: number): string {
  const starts = segmentStarts(trajectory)
  const next = segmentsOf(trajectory).findIndex(
    ({ kind, ids }, index) => kind === 'response' && ids.length > 0 && elementAt(starts, index) > at,
  )
  return next < 0 ? 'none follows' : `the next one is ${elementAt(starts, next)}`
}

function limited(positions: readonly number[]): ChosenPositions {
  if (positions.length <= MOST_POSITIONS) return { ok: true, positions }
  return refused({
    code: 'TOO_MANY_POSITIONS',
    detail: `${positions.length} positions are chosen, and an estimate has at most ${MOST_POSITIONS}`,
    hint: 'Choose fewer positions, a larger step, or a shorter range. Then estimate the interesting part again.',
  })
}

const refused = (why: PositionObstacle): ChosenPositions => ({ ok: false, why })

function trainedTokens(trajectory: TrajectoryView): { readonly index: number; readonly surprisal: number | null }[] {
  const starts = segmentStarts(trajectory)
  return segmentsOf(trajectory).flatMap((segment, at) =>
    Array.from(segment.ids, (_, offset) => ({
      index: elementAt(starts, at) + offset,
      surprisal: surprise(numberAt(segment.logprobs, offset)),
      isTrained: segment.kind === 'response' && isTrained(segment, offset),
    })).filter((token) => token.isTrained),
  )
}

/** Scores ids on a server, line by line. */
import { type ScoreLine, type ScoreRequest, scoreLineSchema } from '#lib/trajectory/scoring/score.ts'
import { fetchLines } from '../api.ts'

/** Yields the scores. Throws ApiError; a failure on the way is the last line. Leaving the loop ends the scoring. */
export async function* scoreIds(request: ScoreRequest, signal: AbortSignal): AsyncGenerator<ScoreLine> {
  yield* fetchLines('/api/score', scoreLineSchema, { method: 'POST', json: request, signal })
}

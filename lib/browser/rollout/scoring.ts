/** Ids scored by a server, told line by line. */
import { type ScoreLine, type ScoreRequest, scoreLineSchema } from '#lib/trajectory/scoring/score.ts'
import { callApi, lines } from '../api.ts'

/** Throws ApiError; what fails on the way is the last line. Leaving the loop ends the scoring. */
export async function* scoreIds(request: ScoreRequest, signal: AbortSignal): AsyncGenerator<ScoreLine> {
  const response = await callApi('/api/score', { method: 'POST', json: request, signal })
  for await (const line of lines(response)) yield scoreLineSchema.parse(line)
}

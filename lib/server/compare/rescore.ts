/** Rescores both sides of a comparison on saved servers, in one call for scripts. */
import { type ComparedSides, hasSameIds } from '#lib/analysis/compare/compare-sides.ts'
import { type RescoreAnswer, type RescoreRequest, rescoreAnswer } from '#lib/analysis/rescore/answer.ts'
import { scorePlan } from '#lib/analysis/rescore/plan.ts'
import { rescore } from '#lib/analysis/rescore/rescoring.ts'
import { scoreBoth, withoutScores } from '#lib/analysis/rescore/score-both.ts'
import { repeatedScores, serverDifference } from '#lib/analysis/rescore/server-difference.ts'
import { ScoringError } from '#lib/trajectory/scoring/gathered.ts'
import { HttpProblem } from '../http/problem.ts'
import { openScoring, scoreLines } from '../servers/score.ts'
import type { Services } from '../services.ts'

/** Scores both sides and returns the comparison of their scores. Throws HttpProblem, also if a server fails on the way. */
export async function rescoreOnServer(
  compared: ComparedSides,
  { server, left, right, tokens = 'trained', repeat = false, clip }: RescoreRequest,
  services: Services,
  signal: AbortSignal,
): Promise<RescoreAnswer> {
  const both = server ?? services.servers.defaultName
  const plan = scorePlan(compared, { servers: { left: left ?? both, right: right ?? both }, tokens })
  const pass = async () => {
    const scores = withoutScores(plan)
    const scored = await scoreBoth(plan, scores, {
      signal,
      async *score(request, signal) {
        yield* scoreLines(await openScoring(request, services, signal), signal)
      },
    }).catch((error: unknown) => {
      if (!(error instanceof ScoringError) || signal.aborted) throw error
      throw new HttpProblem({
        status: 502,
        code: error.code,
        detail: error.message,
        ...(error.hint !== undefined && { hint: error.hint }),
      })
    })
    return { scores, scored }
  }
  const first = await pass()
  const second = repeat ? await pass() : undefined
  return rescoreAnswer(
    rescore(compared, first.scores),
    first.scored,
    clip,
    hasSameIds(compared) ? serverDifference(first.scores, second && repeatedScores(first, second)) : undefined,
  )
}

/** Both sides of a comparison scored by the servers that are saved here, and weighed: one call for scripts. */
import type { Compared } from '#lib/analysis/compare/compare-sides.ts'
import { type WeighAnswer, type WeighRequest, weighAnswer } from '#lib/analysis/rescore/answer.ts'
import { scorePlan } from '#lib/analysis/rescore/plan.ts'
import { scoreBoth, unscored } from '#lib/analysis/rescore/score-both.ts'
import { weigh } from '#lib/analysis/rescore/weighing.ts'
import { ScoringError } from '#lib/trajectory/scoring/gathered.ts'
import { Problem } from '../http/problem.ts'
import { openScoring, scoreLines } from '../servers/score.ts'
import type { Services } from '../services.ts'

/** Throws Problem; a server that fails on the way is one too. */
export async function weighOnServer(
  compared: Compared,
  { server, left, right, tokens = 'trained', clip }: WeighRequest,
  services: Services,
  signal: AbortSignal,
): Promise<WeighAnswer> {
  const both = server ?? services.servers.defaultName
  const plan = scorePlan(compared, { servers: { left: left ?? both, right: right ?? both }, tokens })
  const scores = unscored(plan)
  const scored = await scoreBoth(plan, scores, {
    signal,
    async *score(request, signal) {
      yield* scoreLines(await openScoring(request, services, signal), signal)
    },
  }).catch((error: unknown) => {
    if (!(error instanceof ScoringError) || signal.aborted) throw error
    throw new Problem({
      status: 502,
      code: error.code,
      detail: error.message,
      ...(error.hint !== undefined && { hint: error.hint }),
    })
  })
  return weighAnswer(weigh(compared, scores), scored, clip)
}

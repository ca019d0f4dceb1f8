/** Exports a single trajectory as a file. */

import { writableFormats } from '#lib/formats/registry.ts'
import { encodedFile, type Writer } from '#lib/formats/writing/writer.ts'
import { fileName } from '#lib/trajectory/format/file.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ADVANTAGE_FORMULAS, DEFAULT_FORMULA } from '#lib/trajectory/reward/advantage.ts'
import { FORCED_CHOICES, withForced } from '#lib/trajectory/tokens/forced-tokens.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { HttpProblem } from '../http/problem.ts'
import { queryWord } from '../http/query.ts'
import { formatNamed, quoteKey, storedTrajectory } from '../library/trajectories.ts'
import type { Services } from '../services.ts'
import { advantageColumn } from './export-advantage.ts'

const OWN = 'rollscope'

/** Returns a trajectory as a file in the format of the query. Throws HttpProblem. */
export function exportTrajectory(request: Request, key: string, all: Services): Response {
  const format = formatToWrite(new URL(request.url).searchParams.get('format') ?? OWN)
  const forced = queryWord(request, 'forced', FORCED_CHOICES, 'context')
  const formula = new URL(request.url).searchParams.has('advantage')
    ? queryWord(request, 'advantage', ADVANTAGE_FORMULAS, DEFAULT_FORMULA)
    : undefined
  const trajectory = advantageColumn([key], formula, all)(withForced(storedTrajectory(key, all), forced), key)
  const why = whyExcluded(trajectory)
  if (why !== undefined && format.name !== OWN)
    throw new HttpProblem({
      status: 422,
      code: 'NO_TOKENS',
      detail: `${format.label} cannot represent the trajectory ${quoteKey(key)}. ${why}`,
      hint: 'Rollscope’s own format holds it: format=rollscope.',
    })
  const { content, mediaType } = encodedFile(format, format.write(trajectory).value)
  return new Response(content as BodyInit, {
    headers: {
      'content-type': mediaType,
      'content-disposition': `attachment; filename="${fileName(trajectory, format.name, format.encoding?.extension)}"`,
      'cache-control': 'no-store',
    },
  })
}

/** Description of this choice in the HTTP interface. */
export const FORCED_TEXT =
  'Tokens that a branch inserted: `context` (default: loss mask 0) or `trained` (loss mask 1). The model sampled neither.'

/**
 * Returns why a trajectory is not exported: a trainer can use no sample without tokens, and readers of its format refuse one. Undefined if
 * it has tokens.
 */
export const whyExcluded = (trajectory: Trajectory): string | undefined =>
  tokenCount(trajectory) > 0 ? undefined : `No tokens: ${endOf(trajectory.outcome)}`

function endOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'running':
      return 'the run has just started.'
    case 'failed':
      return `the run failed before its first token with ${outcome.code}: ${outcome.message}`
    case 'ended':
      return `the run ended before its first token (${outcome.reason}).`
  }
}

/** Returns the export format of this name. Throws HttpProblem. */
export const formatToWrite = (name: string): Writer => formatNamed(name, writableFormats, 'export format')

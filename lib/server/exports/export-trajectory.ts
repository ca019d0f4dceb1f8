/** Exports a single trajectory as a file. */

import { ADVANTAGE_FORMULAS, DEFAULT_FORMULA } from '#lib/trajectory/reward/advantage.ts'
import { FORCED_CHOICES } from '#lib/trajectory/tokens/forced-tokens.ts'
import { queryWord } from '../http/query.ts'
import type { Services } from '../services.ts'
import { sampleAdvantages } from './export-advantage.ts'
import { formatToWrite } from './export-parts.ts'
import { exportPart } from './exporting.ts'

/** Description of this choice in the HTTP interface. */
export const FORCED_TEXT =
  'Tokens that a branch inserted: `context` (default: loss mask 0) or `trained` (loss mask 1). The model sampled neither.'

/** Returns a trajectory as a file in the format of the query. Throws HttpProblem. */
export async function exportTrajectory(request: Request, key: string, all: Services): Promise<Response> {
  const query = new URL(request.url).searchParams
  const format = formatToWrite(query.get('format') ?? 'rollscope').name
  const forced = queryWord(request, 'forced', FORCED_CHOICES, 'context')
  const formula = query.has('advantage')
    ? queryWord(request, 'advantage', ADVANTAGE_FORMULAS, DEFAULT_FORMULA)
    : undefined
  const advantage = sampleAdvantages([key], formula, all)(key)
  const part = { kind: 'file', key, options: { format, forced, advantage } } as const
  const { name, content, mediaType } = await exportPart(part, all, request.signal)
  return new Response(content, {
    headers: {
      'content-type': mediaType,
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'no-store',
    },
  })
}

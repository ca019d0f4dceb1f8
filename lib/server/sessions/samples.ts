/** Exports the leaves of a session as training samples, in any format of the library. */
import { numberSamples } from '#lib/formats/writing/group-numbers.ts'
import { LEAF_PICKERS, type LeafPicker, SHARED_MASKS, sessionSamples } from '#lib/session/forest/samples.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { FORCED_CHOICES } from '#lib/trajectory/tokens/forced-tokens.ts'
import { exportFile } from '../exports/export.ts'
import { writeRecord } from '../exports/export-parts.ts'
import { HttpProblem } from '../http/problem.ts'
import { queryWord, wholeNumber } from '../http/query.ts'
import type { Session } from './session.ts'

/** Query parameters of the export of a session. */
export const SAMPLES_QUERY = {
  leaves:
    'The leaves, as one or more of these words with commas between them. all (default). without-retries: of calls with the same prompt only ' +
    'the last one that was completed. without-rolled-back: no leaf that the client left when it rolled its history back. without-aborted: no ' +
    'leaf whose reply was interrupted, which all formats export as truncated. longest: the leaf with the most tokens.',
  mask: 'Where tokens are trained that several samples share. once: in the first sample. every-leaf: in all of them. Default once.',
  max_tokens:
    'Largest number of tokens of all samples together. Paths end after the last call that fits. Default: no limit.',
} as const

/** Returns the file of a session’s samples. Throws HttpProblem. */
export function exportSamples(session: Session, request: Request): Response {
  const search = new URL(request.url).searchParams
  const maxTokens = wholeNumber(request, 'max_tokens', Number.MAX_SAFE_INTEGER)
  const { samples, leftOut } = sessionSamples(session.forest.nodes, {
    pickers: pickersIn(request),
    mask: queryWord(request, 'mask', SHARED_MASKS, 'once'),
    maxTokens,
    living: session.living(),
  })
  const trajectories = samples.flatMap(({ leaf, parts }) => {
    const end = parts.at(-1)?.node ?? leaf
    const path = session.path(end)?.trajectory
    if (!path) return []
    const reward = path.reward ?? session.reward
    const rewarded = { ...path, ...(reward !== null && { reward }) }
    return [withMask(end === leaf ? rewarded : { ...rewarded, id: `${path.id}-${end}` }, parts)]
  })
  if (trajectories.length === 0)
    throw new HttpProblem({
      status: 422,
      code: 'NO_SAMPLES',
      detail: `no leaf of the session ${session.id} is left to export`,
      hint: 'Choose other leaves, or a larger max_tokens. A session without an answered call has no leaves.',
    })
  const format = search.get('format') ?? 'rollscope'
  const forced = queryWord(request, 'forced', FORCED_CHOICES, 'context')
  const numbers = numberSamples(trajectories.map(({ group }) => group))
  return exportFile({
    records: trajectories.values().map((one, at) => writeRecord(one, { format, forced, numbers: numbers[at] })),
    count: trajectories.length,
    excluded: leftOut.filter(({ cutAfter }) => cutAfter === undefined).length,
    format,
  })
}

/** Returns the pickers of leaves in the query of a request. Throws HttpProblem. */
export function pickersIn(request: Request): readonly LeafPicker[] {
  const text = new URL(request.url).searchParams.get('leaves') ?? 'all'
  return text.split(',').map((name) => {
    const picker = LEAF_PICKERS.find((known) => known === name.trim())
    if (picker) return picker
    throw new HttpProblem({
      status: 400,
      code: 'BAD_QUERY',
      detail: `"leaves" must be some of ${LEAF_PICKERS.join(', ')}, not ${JSON.stringify(name.slice(0, 40))}`,
    })
  })
}

type SamplePart = ReturnType<typeof sessionSamples>['samples'][number]['parts'][number]

/** Returns a trajectory that trains only the tokens of its parts that the sample trains. */
function withMask(trajectory: Trajectory, parts: readonly SamplePart[]): Trajectory {
  const left = parts.filter(({ tokens }) => tokens > 0)
  const segments = trajectory.segments.map((segment): Segment => {
    if (segment.ids.length === 0) return segment
    const part = left.shift()
    if (segment.kind === 'prompt' || !part || (part.trained.start === 0 && part.trained.end === segment.ids.length))
      return segment
    const { start, end } = part.trained
    const mask = segment.ids.map((_, index): 0 | 1 =>
      index >= start && index < end ? (segment.mask?.[index] ?? 1) : 0,
    )
    return { ...segment, mask }
  })
  return { ...trajectory, segments }
}

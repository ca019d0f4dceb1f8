/**
 * What a chat pipeline sends in place of a path of the forest: the messages, which a server renders and tokenizes again for every call.
 * Its cost is what the session saved. It is compared as the compare page does.
 */
import { compareSides } from '#lib/analysis/compare/compare-sides.ts'
import { countsAsDrift, type DriftReport } from '#lib/trajectory/drift/report.ts'
import { segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { ResponseView, SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** What a session saved on one path, compared with a chat pipeline. */
export interface PipelineSavings {
  /** Drift spans that the pipeline would have, without those that change nothing that is trained. */
  readonly drifts: number
  /** Trained tokens inside of drift spans. */
  readonly trainedTokens: number
  /** Tokens of the prefix cache that the pipeline's prompts would not have used. */
  readonly cachedTokens: number
  /** Training rows of the pipeline. The path is one row. */
  readonly rows: number
  /** Omitted: no call could be compared. */
  readonly report?: DriftReport
}

/**
 * Computes what a path saved. `path` is its trajectory with one response for each call, and its vocabulary has the tokens of the prompts;
 * `prompts` are the token ids that the pipeline sends before each response. Responses after the last prompt are not compared.
 */
export function savingsOf(path: TrajectoryView, prompts: readonly (readonly number[])[]): PipelineSavings {
  if (prompts.length === 0) return { drifts: 0, trainedTokens: 0, cachedTokens: 0, rows: 1 }
  const report = comparedWith(path, prompts)
  return {
    drifts: report.spans.filter(({ severity }) => countsAsDrift(severity)).length,
    trainedTokens: report.trained.touched,
    cachedTokens: report.prefix.lost,
    rows: report.rows.count,
    report,
  }
}

/** Compares a path with itself as a server reads it. `prompts` are as for `savingsOf`. */
function comparedWith(path: TrajectoryView, prompts: readonly (readonly number[])[]): DriftReport {
  const segments = segmentsOf(path)
  const starts = segmentStarts(path)
  const own = segments.flatMap(({ ids }) => Array.from(ids))
  const { live: _, ...frame } = path
  const read: SegmentView[] = []
  let call = 0
  for (const [index, segment] of segments.entries()) {
    if (call === prompts.length) break
    read.push(
      isResponse(segment) ? withPrompt(segment, own, elementAt(starts, index), elementAt(prompts, call)) : segment,
    )
    if (isResponse(segment)) call++
  }
  const trajectory: TrajectoryView = { ...frame, segments: read }
  const side = { trajectory, tokenizer: undefined, template: undefined }
  const result = compareSides({ ...side, as: { kind: 'recorded' } }, { ...side, as: { kind: 'read' } })
  if (!result.ok) throw new Error(result.why)
  return result.value.comparison.report
}

const isResponse = (segment: SegmentView): segment is ResponseView => segment.kind === 'response'

/** Returns a response that a chat endpoint gave after `prompt`. It begins at the token `start` of `own`. */
function withPrompt(
  response: ResponseView,
  own: readonly number[],
  start: number,
  prompt: readonly number[],
): ResponseView {
  const shared = Math.min(start, commonIds(own, prompt))
  const isSame = shared === start && shared === prompt.length
  const { read: _, ...request } = response.request ?? UNKNOWN_REQUEST
  return {
    ...response,
    request: { ...request, endpoint: 'chat', ...(!isSame && { read: { kept: shared, ids: prompt.slice(shared) } }) },
  }
}

const UNKNOWN_REQUEST: NonNullable<ResponseView['request']> = {
  server: '',
  samplingParams: {},
  inputLength: 0,
  inputHash: '',
  streamed: false,
}

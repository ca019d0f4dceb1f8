/**
 * Rebuilds the calls that a trajectory has recorded. The body of /generate is rebuilt from the tokens, and the body of a chat endpoint
 * from the recorded messages.
 */

import type { ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import { toEngineInput } from '#lib/trajectory/images/engine-input.ts'
import { imageDataOf, imageSpansOf } from '#lib/trajectory/images/image-boxes.ts'
import { chatBody, sentMessages } from '#lib/trajectory/messages/chat-call.ts'
import { callBody, splitCall } from '#lib/trajectory/messages/generate-call.ts'
import { promptOf } from '#lib/trajectory/messages/read-prompt.ts'
import { segmentStarts, segmentsOf, shiftedSpan } from '#lib/trajectory/tokens/tokens.ts'
import type { ResponseView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { allIds } from '../all-ids.ts'

/** Request of a response segment that records one. */
export type RecordedRequest = NonNullable<ResponseSegment['request']>

/** A response whose request is recorded. */
export interface RecordedCall {
  /** Number of the call, from 1, in the order of the trajectory. */
  readonly number: number
  readonly segmentIndex: number
  readonly segment: ResponseView
  readonly request: RecordedRequest
  /** Tokens before the response. They are what was sent if the record is correct and, for a chat endpoint, nothing drifted. */
  readonly inputLength: number
  /** Index of the first prompt token that no call before sent or sampled. */
  readonly firstNew: number
}

/** Returns the recorded calls of a trajectory, in order. Responses without a request are left out. */
export const recordedCalls = memoizeByIdentity((trajectory: TrajectoryView): readonly RecordedCall[] => {
  const starts = segmentStarts(trajectory)
  const calls: RecordedCall[] = []
  let known = 0
  for (const [segmentIndex, segment] of segmentsOf(trajectory).entries()) {
    if (segment.kind !== 'response') continue
    const inputLength = elementAt(starts, segmentIndex)
    const { request } = segment
    if (request) calls.push({ number: calls.length + 1, segmentIndex, segment, request, inputLength, firstNew: known })
    known = inputLength + segment.ids.length
  }
  return calls
})

/** Returns the ids before the response. For a chat endpoint, it returns the ids that the server reports to have read. */
export const inputIds = (trajectory: TrajectoryView, { inputLength, segment }: RecordedCall): Int32Array =>
  promptOf(allIds(trajectory), segment, inputLength)

/** One HTTP request of a recorded call. */
export interface SentBody {
  /** Purpose of the request: a separate one may fetch the logprobs of the prompt first. */
  readonly purpose: 'scores' | 'writes'
  readonly path: '/generate' | '/v1/chat/completions'
  readonly body: Readonly<Record<string, unknown>>
}

/** Returns the entries of `input_ids` in a body that is shown: all ids, or a shorter list such as that of `fewIds`. */
export type ShownIds = (ids: Int32Array) => readonly unknown[]

/** Returns the request bodies of a call in the order in which they were sent. Empty if the messages of a chat request are not recorded. */
export function sentBodies(trajectory: TrajectoryView, call: RecordedCall, visibleIds: ShownIds): readonly SentBody[] {
  const { request } = call
  if (request.endpoint === 'chat') {
    const body = sentChatBody(trajectory, call)
    return body ? [{ purpose: 'writes', path: '/v1/chat/completions', body: plain(body) }] : []
  }
  const images = request.images && imagesBefore(trajectory, call)
  const ids = inputIds(trajectory, call)
  const input = images && toEngineInput({ inputIds: Array.from(ids), logprobStartLen: request.logprobStartLen, images })
  const sent = {
    inputIds: visibleIds(input ? Int32Array.from(input.inputIds) : ids) as readonly number[],
    sampling: request.samplingParams,
    rid: request.rid,
    stream: request.streamed,
    streamInterval: request.streamInterval,
    logprobStartLen: input ? input.logprobStartLen : request.logprobStartLen,
    topLogprobsNum: request.topLogprobsNum ?? 0,
    adapter: request.adapter,
    routedExpertsStart: request.routedExpertsStart,
    ...(images && { imageData: visibleIds === fewIds ? images.urls.map(shortUrl) : images.urls }),
  }
  if (!request.scoring) return [{ purpose: 'writes', path: '/generate', body: plain(callBody(sent)) }]
  const { scoring, writing } = splitCall(sent, request.scoring.rid)
  return [
    { purpose: 'scores', path: '/generate', body: plain(callBody(scoring)) },
    { purpose: 'writes', path: '/generate', body: plain(callBody(writing)) },
  ]
}

/** Returns the images before a response, and how many tokens the server had reported for them before this call. */
function imagesBefore(trajectory: TrajectoryView, { segmentIndex }: RecordedCall) {
  const segments = trajectory.segments.slice(0, segmentIndex)
  const starts = segmentStarts(trajectory)
  const before = segments.findLast((segment) => segment.kind === 'response')
  return {
    urls: imageDataOf({ ...trajectory, segments }),
    spans: segments.flatMap((segment, index) =>
      imageSpansOf(segment, trajectory).map((span) => shiftedSpan(span, elementAt(starts, index))),
    ),
    known: before?.request?.images?.tokens,
  }
}

const shortUrl = (url: string): string =>
  url.length > LONG_URL ? `${url.slice(0, LONG_URL)}… ${url.length - LONG_URL} more characters …` : url

const LONG_URL = 64

/** Rebuilds the body of a chat request. The trajectory records only what each request adds to the one before. */
function sentChatBody(
  { segments, model }: TrajectoryView,
  { request, segmentIndex }: RecordedCall,
): Record<string, unknown> | undefined {
  return (
    request.chat &&
    chatBody({
      model: request.chat.model,
      messages: sentMessages(segments.slice(0, segmentIndex + 1)),
      tools: model.tools,
      sampling: request.samplingParams,
      templateOptions: model.template?.options ?? {},
      adapter: request.adapter,
      rid: request.rid,
    })
  )
}

/** Leaves out undefined fields, as JSON does. */
const plain = (body: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))

/** Returns the first and the last few ids with the number of omitted ids between them. A short list is returned whole. */
export function fewIds(ids: ArrayLike<number>): readonly unknown[] {
  if (ids.length <= MANY) return Array.from(ids)
  const from = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => ids[start + i])
  return [...from(0, FIRST), `… ${ids.length - FIRST - LAST} more …`, ...from(ids.length - LAST, ids.length)]
}

const MANY = 24
const FIRST = 8
const LAST = 4

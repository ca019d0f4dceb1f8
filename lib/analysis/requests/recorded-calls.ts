/**
 * The calls that a trajectory has recorded, and what was sent with each: the body of /generate is made again from its
 * tokens, that of a chat endpoint from the recorded messages.
 */

import type { ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import { chatBody, sentMessages } from '#lib/trajectory/messages/chat-call.ts'
import { callBody, splitCall } from '#lib/trajectory/messages/generate-call.ts'
import { promptOf } from '#lib/trajectory/messages/read-prompt.ts'
import { segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { ResponseView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { allIds } from '../all-ids.ts'

export type RecordedRequest = NonNullable<ResponseSegment['request']>

export interface RecordedCall {
  /** From 1, in the order of the trajectory. */
  readonly number: number
  readonly segmentIndex: number
  readonly segment: ResponseView
  readonly request: RecordedRequest
  /** Tokens before the response: what was sent, where the record holds, and over a chat endpoint where nothing drifted. */
  readonly inputLength: number
  /** Of its prompt, the tokens that no call before has sent or written. */
  readonly firstNew: number
}

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

/** The ids that the tokens before the response say were sent, or over a chat endpoint: those that the server has read. */
export const inputIds = (trajectory: TrajectoryView, { inputLength, segment }: RecordedCall): Int32Array =>
  promptOf(allIds(trajectory), segment, inputLength)

export interface SentBody {
  /** What this call is for: a call of its own may fetch the prompt's logprobs first. */
  readonly purpose: 'scores' | 'writes'
  readonly path: '/generate' | '/v1/chat/completions'
  readonly body: Readonly<Record<string, unknown>>
}

/** The ids that a body to /generate holds: all of them, or what stands for them. */
export type ShownIds = (ids: Int32Array) => readonly unknown[]

/** As Rollscope sends it, in the order in which it was sent. None: the messages of a chat request are not recorded. */
export function sentBodies(trajectory: TrajectoryView, call: RecordedCall, shown: ShownIds): readonly SentBody[] {
  const { request } = call
  if (request.endpoint === 'chat') {
    const body = sentChatBody(trajectory, call)
    return body ? [{ purpose: 'writes', path: '/v1/chat/completions', body: plain(body) }] : []
  }
  const sent = {
    inputIds: shown(inputIds(trajectory, call)) as readonly number[],
    sampling: request.samplingParams,
    rid: request.rid,
    stream: request.streamed,
    streamInterval: request.streamInterval,
    logprobStartLen: request.logprobStartLen,
    topLogprobsNum: request.topLogprobsNum ?? 0,
  }
  if (!request.scoring) return [{ purpose: 'writes', path: '/generate', body: plain(callBody(sent)) }]
  const { scoring, writing } = splitCall(sent, request.scoring.rid)
  return [
    { purpose: 'scores', path: '/generate', body: plain(callBody(scoring)) },
    { purpose: 'writes', path: '/generate', body: plain(callBody(writing)) },
  ]
}

/** Each chat request is recorded as what it adds to the one before. */
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
      rid: request.rid,
    })
  )
}

/** As JSON has it: what is undefined is not there. */
const plain = (body: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))

/** The first and the last few ids, and between them how many are left out. */
export function fewIds(ids: ArrayLike<number>): readonly unknown[] {
  if (ids.length <= MANY) return Array.from(ids)
  const from = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => ids[start + i])
  return [...from(0, FIRST), `… ${ids.length - FIRST - LAST} more …`, ...from(ids.length - LAST, ids.length)]
}

const MANY = 24
const FIRST = 8
const LAST = 4

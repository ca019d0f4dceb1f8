/** Checks how responses and the run ended. */

import type { Outcome, ResponseSegment, Span, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { HealthFinding } from '#lib/trajectory/health/health.ts'
import { responseCalls, tokensRead } from '#lib/trajectory/messages/response-calls.ts'
import { isCutBelowLimit, newTokenLimit } from '#lib/trajectory/messages/token-limit.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { placedResponses } from '#lib/trajectory/tokens/tokens.ts'
import { countText, countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { type HealthCheck, toTrajectorySpan } from './check.ts'

/** Reports responses that the model did not end, open think blocks, recorded endings that contradict each other, and failed runs. */
export const checkEndings: HealthCheck = (trajectory, starts) => {
  const responses = placedResponses(trajectory.segments, starts)
  const ended = (...kinds: readonly string[]) =>
    responses.filter(({ segment }) => kinds.includes(segment.finish?.kind ?? ''))
  const [byLength, broken, cancelled] = [ended('length'), ended('abort', 'cut', 'unknown'), ended('cancelled')]
  const complete = byLength.filter(({ segment }) => hasEndedTurn(trajectory, segment))
  const truncated = byLength.filter((response) => !complete.includes(response))
  const open = responses.flatMap(({ segment, start }) =>
    segment.thinks.filter(({ closed }) => !closed).map((think) => toTrajectorySpan(think, start)),
  )
  const tooLong = responses.flatMap(({ segment, start }) =>
    responseCalls(segment)
      .flatMap((call) => {
        const limit = newTokenLimit(call.request)
        const over = limit === undefined ? 0 : sampledIn(segment, call) - limit
        return limit !== undefined && over > 0
          ? [{ limit, place: toTrajectorySpan({ start: call.end - over, end: call.end }, start) }]
          : []
      })
      .slice(0, 1),
  )
  const findings: HealthFinding[] = []
  if (tooLong[0])
    findings.push({
      kind: 'over-limit',
      severity: 'warning',
      label: `${countWithNoun(tooLong.length, 'response')} longer than max_new_tokens`,
      message: `The request allowed ${countWithNoun(tooLong[0].limit, 'new token')}, and the server wrote ${countWithNoun(tooLong[0].place.end - tooLong[0].place.start, 'more', 'more')}.`,
      count: tooLong.length,
      places: tooLong.map(({ place }) => place),
      remedy:
        'Check the version and the command line of the server, and any router or proxy in front of it: the limit was not applied.',
    })
  if (truncated.length > 0)
    findings.push({
      kind: 'truncated',
      severity: 'warning',
      label: `${countWithNoun(truncated.length, 'response')} cut at the token limit`,
      message: 'The limit of new tokens was reached before the model had ended its turn.',
      count: truncated.length,
      places: truncated.map(lastToken),
      remedy: truncated.every(({ segment }) => isCutBelowLimit(segment))
        ? 'Mask such responses: the model did not end its turn. A larger max_new_tokens does not help, because another limit was reached before.'
        : 'Raise max_new_tokens, or mask such responses: the model did not end its turn.',
    })
  if (broken.length > 0)
    findings.push({
      kind: 'truncated',
      severity: 'warning',
      label: `${countWithNoun(broken.length, 'response')} interrupted`,
      message: `The response ended early: ${broken.map(({ segment }) => finishText(segment)).join('; ')}. The received part was kept.`,
      count: broken.length,
      places: broken.map(lastToken),
      remedy: 'Mask such responses, or leave the trajectory out.',
    })
  if (cancelled.length > 0)
    findings.push({
      kind: 'truncated',
      severity: 'note',
      label: `${countWithNoun(cancelled.length, 'response')} stopped by the user`,
      message: 'The user stopped it; the received part was kept.',
      count: cancelled.length,
      places: cancelled.map(lastToken),
    })
  findings.push(...finishContradictions(trajectory, complete, truncated, responses.at(-1)))
  if (open.length > 0)
    findings.push({
      kind: 'open-think',
      severity: 'warning',
      label: `${countWithNoun(open.length, 'think block')} not closed`,
      message: 'A response ended while the model was thinking: it has no answer.',
      count: open.length,
      places: open,
    })
  const isReported = byLength.length + broken.length + cancelled.length > 0
  const outcome = outcomeFinding(trajectory.outcome, isReported)
  const isUnknown = trajectory.outcome.kind === 'ended' && trajectory.outcome.reason === 'unknown'
  return {
    findings: outcome ? [...findings, outcome] : findings,
    ...(isUnknown &&
      responses.some(({ segment }) => !segment.finish) && { unknown: 'the file does not record how responses ended' }),
  }
}

interface PlacedResponse {
  readonly segment: ResponseSegment
  readonly start: number
}

/** Returns true if the last token of a response ends the turn, although its finish reason may be `length`. */
function hasEndedTurn({ model }: Trajectory, segment: ResponseSegment): boolean {
  const end = model.tokenizer?.endOfTurnId
  const request = responseCalls(segment).at(-1)?.request
  return end !== undefined && segment.ids.at(-1) === end && request?.samplingParams.ignore_eos !== true
}

/** Returns how many tokens a call sampled: a branch may have inserted others after them. */
const sampledIn = ({ forced = [] }: ResponseSegment, call: Span): number =>
  forced.reduce(
    (count, { start, end }) => count - Math.max(0, Math.min(end, call.end) - Math.max(start, call.start)),
    call.end - call.start,
  )

function finishContradictions(
  trajectory: Trajectory,
  complete: readonly PlacedResponse[],
  truncated: readonly PlacedResponse[],
  last: PlacedResponse | undefined,
): readonly HealthFinding[] {
  const { model, outcome, vocab } = trajectory
  const early = truncated.flatMap((response) => {
    const room = unusedRoom(response.segment, model.contextLength)
    return room ? [{ response, room }] : []
  })
  const kind = 'finish-contradiction'
  const findings: HealthFinding[] = []
  if (complete.length > 0)
    findings.push({
      kind,
      severity: 'note',
      label: `${countWithNoun(complete.length, 'ended turn')} with the finish reason length`,
      message: `The server reports that the token limit ended the response, but the last token is the end-of-turn token ${textOf([model.tokenizer?.endOfTurnId as number], vocab)}: the model had ended its turn.`,
      count: complete.length,
      places: complete.map(lastToken),
      remedy:
        'Do not treat the response as truncated. SGLang reports length where the last token that it may write ends the turn.',
    })
  if (early[0]) {
    const { written, allowed, context } = early[0].room
    findings.push({
      kind,
      severity: 'note',
      label: `${countWithNoun(early.length, 'response')} cut below the token limit`,
      message: `The server reports that a token limit ended the response after ${countWithNoun(written, 'token')}, but the request allowed ${countText(allowed)}, and the context of ${countWithNoun(context, 'token')} was not full.`,
      count: early.length,
      places: early.map(({ response }) => lastToken(response)),
      remedy:
        'Check whether a router or proxy lowers the limit, and whether the server has memory for fewer tokens than its context length (--max-total-tokens).',
    })
  }
  const finish = last?.segment.finish?.kind
  const endedOtherwise = finish !== undefined && CUT.has(finish)
  if (last && endedOtherwise && !complete.includes(last) && outcome.kind === 'ended' && outcome.reason === 'end_turn')
    findings.push({
      kind,
      severity: 'warning',
      label: `end_turn after the finish reason ${finish}`,
      message: `The run is recorded as ended by the model (end_turn), but the finish reason of its last response is ${finish}: the model did not end its turn.`,
      count: 1,
      places: [lastToken(last)],
      remedy:
        'Check the program that wrote the file. Filter by the finish reason of the response, not by the outcome of the run.',
    })
  return findings
}

/** Finish reasons of a response that the model did not end. */
const CUT: ReadonlySet<string> = new Set(['length', 'abort', 'cut', 'cancelled'])

/** Number of context tokens that a server may leave unused. SGLang 0.5.23 leaves two unused. */
const KEPT_BACK = 8

/** Returns the limits of the call that ended a response if none of them was reached; undefined if one was reached or is unknown. */
function unusedRoom(segment: ResponseSegment, context: number | undefined) {
  const call = responseCalls(segment).at(-1)
  const allowed = newTokenLimit(call?.request)
  if (!call?.request || allowed === undefined || context === undefined) return undefined
  const written = call.end - call.start
  const isFull = tokensRead(call.request, call.usage) + written >= context - KEPT_BACK
  return written >= allowed || isFull ? undefined : { written, allowed, context }
}

const lastToken = ({ segment, start }: PlacedResponse): Span => {
  const end = start + segment.ids.length
  return { start: Math.max(0, end - 1), end: Math.max(1, end) }
}

function finishText({ finish }: ResponseSegment): string {
  switch (finish?.kind) {
    case 'abort':
      return finish.message ?? 'aborted'
    case 'cut':
      return finish.message
    case 'unknown':
      return `an unknown finish reason, ${finish.raw}`
    default:
      return ''
  }
}

const ENDED: Readonly<Partial<Record<string, readonly [HealthFinding['severity'], label: string, message: string]>>> = {
  length: [
    'warning',
    'cut at the token limit',
    'The limit of new tokens was reached before the model had ended its turn.',
  ],
  truncated: ['warning', 'cut off', 'The trajectory is cut off, for an unknown reason.'],
  aborted: ['warning', 'aborted', 'The server aborted the request.'],
  interrupted: ['warning', 'interrupted', 'The program that ran it was stopped.'],
  cancelled: ['note', 'stopped by the user', 'The user stopped it.'],
  context_full: ['warning', 'context full', 'The context of the model was full.'],
  max_tool_iterations: ['note', 'stopped at a limit', 'The limit of rounds of tool calls was reached.'],
  max_tool_calls: ['note', 'stopped at a limit', 'The limit of tool calls was reached.'],
  max_messages: ['note', 'stopped at a limit', 'The limit of messages was reached.'],
  max_tokens: ['warning', 'stopped at a limit', 'The limit of tokens of the whole run was reached.'],
}

/** Returns the finding for the outcome of the run. `isReported` is true if a finding for a response already reports a cut or a cancellation. */
function outcomeFinding(outcome: Outcome, isReported: boolean): HealthFinding | undefined {
  if (outcome.kind === 'failed')
    return {
      kind: 'ending',
      severity: 'error',
      label: `run failed: ${outcome.code}`,
      message: outcome.message,
      count: 1,
      places: [],
      ...(outcome.hint !== undefined && { remedy: outcome.hint }),
    }
  const endingFacts = outcome.kind === 'ended' ? ENDED[outcome.reason] : undefined
  if (
    !endingFacts ||
    (isReported && ['length', 'aborted', 'cancelled'].includes(outcome.kind === 'ended' ? outcome.reason : ''))
  )
    return undefined
  const [severity, label, message] = endingFacts
  return { kind: 'ending', severity, label, message, count: 1, places: [] }
}

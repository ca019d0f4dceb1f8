/** Steps that a person can take after a run has ended, as buttons with the likeliest first. */

import { countText } from '#components/token-view/numbers.ts'
import { outcomeText } from '#components/token-view/overview/outcome-text.ts'
import { DEFAULT_MAX_NEW_TOKENS } from '#lib/api/run-request.ts'
import { isSamplingName } from '#lib/sampling/parameters.ts'
import type { PromptWithImages } from '#lib/share/settings/prompt-draft.ts'
import type { LimitField, Setup } from '#lib/share/settings/setup.ts'
import type { Outcome } from '#lib/trajectory/format/trajectory.ts'
import { resumeObstacle } from '#lib/trajectory/messages/resumable.ts'
import { isCutBelowLimit } from '#lib/trajectory/messages/token-limit.ts'
import type { ResponseView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** A step with the text of its button. */
export type NextStep = { readonly text: string } & (
  | { readonly kind: 'change'; readonly setup: Setup }
  /** `prompt` is undefined if unread tool results are sent without a further question. */
  | { readonly kind: 'send'; readonly setup: Setup; readonly prompt: Partial<PromptWithImages> | undefined }
  | { readonly kind: 'take-back'; readonly prompt: Partial<PromptWithImages> }
  /** The last response continues from its own tokens. */
  | { readonly kind: 'resume'; readonly setup: Setup }
  /** The person writes a further turn in the composer. */
  | { readonly kind: 'write' }
  | { readonly kind: 'start-over' }
  /** Opens the servers page. */
  | { readonly kind: 'servers' }
)

interface Ended {
  readonly outcome: Outcome
  /** Setup of the next call. */
  readonly setup: Setup
  readonly segments: TrajectoryView['segments']
}

/** Returns the steps for an outcome: at least one if `outcomeText` returns a text, else none. */
export function nextSteps({ outcome, setup, segments }: Ended): readonly NextStep[] {
  if (outcomeText({ outcome, segments }) === undefined || outcome.kind === 'running') return []
  const last = segments.at(-1)
  const unsentPrompt = promptIn(outcome)
  const hasUnread = last?.kind === 'response' && last.toolCalls.some(({ result }) => result !== undefined)
  // An unread prompt is sent again unchanged; unread tool results are sent without a question.
  const again = (using: Setup, text: string): NextStep[] =>
    unsentPrompt !== undefined || hasUnread ? [{ kind: 'send', setup: using, prompt: unsentPrompt, text }] : []
  const isOver = segments.length === 0
  const rest: readonly NextStep[] = [
    ...(unsentPrompt === undefined
      ? []
      : [
          {
            kind: 'take-back',
            prompt: unsentPrompt,
            text: unsentPrompt.mode === 'ids' ? 'Restore the ids' : 'Restore the question',
          } as const,
        ]),
    ...(unsentPrompt === undefined && !hasUnread ? [isOver ? START_OVER : WRITE] : []),
  ]
  const resume: readonly NextStep[] =
    unsentPrompt === undefined && !hasUnread && resumeObstacle({ segments, outcome }, sampledWith(setup)) === undefined
      ? [{ kind: 'resume', setup, text: 'Resume the response' }]
      : []
  const own = [
    ...resume,
    ...(outcome.kind === 'failed'
      ? afterFailure(outcome, setup, again)
      : afterReason(outcome, setup, again, last?.kind === 'response' ? last : undefined)),
  ]
  return [...own, ...rest.filter((step) => own.every(({ kind }) => kind !== step.kind))]
}

/** Returns the sampling parameters of the setup; empty fields are not sent. */
const sampledWith = ({ sampling }: Setup): object =>
  Object.fromEntries(Object.entries(sampling).filter(([, value]) => value !== ''))

/** Returns the unread prompt for the composer. A text becomes the ids that it was encoded to, because these were sent. */
function promptIn({
  unsent,
  unsentGiven,
}: Exclude<Outcome, { kind: 'running' }>): Partial<PromptWithImages> | undefined {
  if (unsentGiven) return { mode: 'ids', ids: unsentGiven.ids.join(' '), record: 0 }
  const content = unsent?.findLast(({ role }) => role === 'user')?.content
  if (typeof content !== 'object') return content === undefined ? undefined : { mode: 'question', question: content }
  // The composer writes images before one text; parts in another order cannot be restored.
  const text = content.at(-1)
  const images = content.slice(0, -1).flatMap(({ image }) => image ?? [])
  return text?.type === 'text' && images.length === content.length - 1
    ? { mode: 'question', question: text.text ?? '', images }
    : undefined
}

const START_OVER: NextStep = { kind: 'start-over', text: 'Start over' }
const WRITE: NextStep = { kind: 'write', text: 'Write the next turn' }
const SERVERS: NextStep = { kind: 'servers', text: 'Check the server' }

type Again = (using: Setup, text: string) => readonly NextStep[]

function afterReason(
  { reason, context }: Extract<Outcome, { kind: 'ended' }>,
  setup: Setup,
  again: Again,
  response: ResponseView | undefined,
): readonly NextStep[] {
  switch (reason) {
    case 'end_turn':
    case 'unknown':
      return []
    case 'length':
      return response && isCutBelowLimit(response)
        ? [SERVERS, WRITE]
        : [samplingStep(setup, 2 * Math.max(maxNewTokens(setup), response?.ids.length ?? 0)), WRITE]
    case 'context_full':
      return [...fitting(setup, context, again), ...raiseLimit(setup, 'contextWindow'), START_OVER]
    case 'max_tool_iterations':
      return [...again(setup, 'Continue with the results'), ...raiseLimit(setup, 'maxToolIterations')]
    case 'max_tool_calls':
      return [...again(setup, 'Continue with the results'), ...raiseLimit(setup, 'maxToolCalls')]
    case 'max_messages':
      return [...again(setup, 'Continue'), ...raiseLimit(setup, 'maxMessages'), WRITE]
    case 'max_tokens':
      return [...raiseLimit(setup, 'maxTokens', context?.needed), ...again(setup, 'Continue'), START_OVER]
    case 'cancelled':
    case 'interrupted':
      return again(setup, 'Continue').length > 0 ? again(setup, 'Continue') : [WRITE]
    case 'aborted':
      return [...again(setup, 'Try again'), SERVERS]
    case 'truncated':
      return [WRITE]
  }
}

/** Codes of failures that often disappear without a change. */
const PASSING: ReadonlySet<string> = new Set([
  'CONNECT_REFUSED',
  'CONNECT_TIMEOUT',
  'DNS_FAILED',
  'CONNECTION_RESET',
  'HEADERS_TIMEOUT',
  'BODY_TIMEOUT',
  'TOKEN_TIMEOUT',
  'CIRCUIT_OPEN',
  'UPSTREAM_BUSY',
  'UPSTREAM_ERROR',
  'UPSTREAM_TRUNCATED',
  'SERVER_CHANGED',
  'UNKNOWN_FINISH',
  'INTERNAL',
  'TOO_MANY_FILES',
  'DISK_FULL',
  'DATABASE_LOCKED',
])

/** Codes of failures that the messages, the template or the setup cause, not the server. */
const OWN_TO_CHANGE: ReadonlySet<string> = new Set([
  'TEMPLATE_ERROR',
  'REQUEST_REFUSED',
  'UPSTREAM_REJECTED',
  'IMAGE_REFUSED',
  'IMAGE_PLACEHOLDERS',
])

function afterFailure(
  { code, parameter }: Extract<Outcome, { kind: 'failed' }>,
  setup: Setup,
  again: Again,
): readonly NextStep[] {
  const without = parameter === undefined ? undefined : withoutParameter(setup, parameter)
  if (without && parameter !== undefined) {
    const sent = again(without, `Send again without ${parameter}`)
    return sent.length > 0 ? sent : [{ kind: 'change', setup: without, text: `Leave out ${parameter}` }]
  }
  if (code === 'TOKENIZER_MISMATCH') {
    const sent = again({ ...setup, tokenizer: 'server' }, 'Use the server’s tokenizer')
    return sent.length > 0 ? sent : [START_OVER]
  }
  if (code === 'DEADLINE' || code === 'TOO_LARGE')
    return [samplingStep(setup, Math.max(1, Math.floor(maxNewTokens(setup) / 2))), ...again(setup, 'Try again')]
  if (PASSING.has(code)) return [...again(setup, 'Try again'), SERVERS]
  return OWN_TO_CHANGE.has(code) ? [START_OVER] : [SERVERS]
}

/** Returns the setup without a parameter; undefined if it does not set the parameter. */
function withoutParameter(setup: Setup, name: string): Setup | undefined {
  if (isSamplingName(name))
    return setup.sampling[name] === '' ? undefined : { ...setup, sampling: { ...setup.sampling, [name]: '' } }
  try {
    const { [name]: gone, ...rest } = JSON.parse(setup.sampling.further || '{}')
    const further = Object.keys(rest).length > 0 ? JSON.stringify(rest) : ''
    return gone === undefined ? undefined : { ...setup, sampling: { ...setup.sampling, further } }
  } catch {
    return undefined
  }
}

/** Returns a step that sends with a shorter reply, if the call would then fit the context. */
function fitting(
  setup: Setup,
  context: Extract<Outcome, { kind: 'ended' }>['context'],
  again: Again,
): readonly NextStep[] {
  const over = (context?.needed ?? 0) - (context?.holds ?? 0)
  const fits = maxNewTokens(setup) - over
  if (context?.needed === undefined || context.holds === undefined || over <= 0 || fits < 1) return []
  const step = samplingStep(setup, fits)
  return 'setup' in step ? again(step.setup, `Send with max_new_tokens ${countText(fits)}`) : []
}

const maxNewTokens = ({ sampling }: Setup): number => Number(sampling.max_new_tokens) || DEFAULT_MAX_NEW_TOKENS

function samplingStep(setup: Setup, to: number): NextStep {
  const verb = to > maxNewTokens(setup) ? 'Raise' : 'Lower'
  return {
    kind: 'change',
    setup: { ...setup, sampling: { ...setup.sampling, max_new_tokens: String(to) } },
    text: `${verb} max_new_tokens to ${countText(to)}`,
  }
}

const LIMIT_NAMES: Readonly<Partial<Record<LimitField, string>>> = {
  maxToolIterations: 'tool iterations',
  maxToolCalls: 'tool calls',
  maxMessages: 'messages',
  maxTokens: 'tokens',
  contextWindow: 'tokens in the context window',
}

/** Returns a step that doubles a limit, or raises it to what the last call needed; none if the setup no longer has the limit. */
function raiseLimit(setup: Setup, limit: LimitField, needed = 1): readonly NextStep[] {
  if (setup.limits[limit].trim() === '') return []
  const to = Math.max(needed, 2 * (Number(setup.limits[limit]) || 0))
  return [
    {
      kind: 'change',
      setup: { ...setup, limits: { ...setup.limits, [limit]: String(to) } },
      text: `Raise the limit of ${LIMIT_NAMES[limit]} to ${countText(to)}`,
    },
  ]
}

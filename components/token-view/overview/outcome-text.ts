/** The outcome of a run, and what can be done next, in words. */
import type { Outcome, OutcomeReason } from '#lib/trajectory/format/trajectory.ts'
import { isCutBelowLimit } from '#lib/trajectory/messages/token-limit.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countText } from '../numbers.ts'

/** Texts about how a run ended. */
export interface OutcomeText {
  readonly tone: 'bad' | 'note'
  readonly title: string
  readonly hint: string | undefined
  /** The part of the hint that also applies outside the playground. */
  readonly facts: string | undefined
}

/** Returns the texts of an outcome; undefined while it runs, or if the model ended its turn. */
export function outcomeText({
  outcome,
  segments,
}: Pick<TrajectoryView, 'outcome' | 'segments'>): OutcomeText | undefined {
  if (outcome.kind === 'running') return undefined
  if (outcome.kind === 'failed')
    return { tone: 'bad', title: failureText(outcome.message, outcome.code), hint: outcome.hint, facts: outcome.hint }
  const last = segments.at(-1)
  const isBelowLimit = outcome.reason === 'length' && last?.kind === 'response' && isCutBelowLimit(last)
  const words = isBelowLimit ? BELOW_LIMIT : REASONS[outcome.reason]
  return (
    words && {
      tone: 'note',
      title: sentences(words.title, contextText(outcome.context)) ?? '',
      hint: sentences(words.facts, words.steps),
      facts: words.facts,
    }
  )
}

const sentences = (...texts: readonly (string | undefined)[]): string | undefined =>
  texts.filter((text) => text !== undefined).join(' ') || undefined

function contextText(context: Extract<Outcome, { kind: 'ended' }>['context']): string | undefined {
  const { needed, holds } = context ?? {}
  if (holds === undefined) return needed === undefined ? undefined : `The call needed ${countText(needed)} tokens.`
  if (needed === undefined) return `The context has ${countText(holds)} tokens.`
  return `The call needed ${countText(needed)} tokens, but the context has ${countText(holds)}.`
}

/** Returns the failure as a sentence; an HTTP status at the end of the message joins the code in one pair of brackets. */
function failureText(message: string, code: string): string {
  const [, text = message, status] = /^(.*) \((\d{3})\)$/s.exec(message) ?? []
  return `${sentence(text)} (${status === undefined ? '' : `${status}, `}${code})`
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

interface ReasonText {
  readonly title: string
  readonly facts?: string
  /** What can be done in the playground. */
  readonly steps?: string
}

const REASONS: Readonly<Record<OutcomeReason, ReasonText | undefined>> = {
  end_turn: undefined,
  length: {
    title: 'The response reached max_new_tokens.',
    facts: 'The response was kept unchanged.',
    steps: 'Raise max_new_tokens, or send a next turn: the open turn is closed first.',
  },
  context_full: {
    title: 'The context is full.',
    steps: 'Start a new run, shorten the messages, or use a server with a longer context.',
  },
  cancelled: { title: 'Stopped.', facts: 'The received tokens are kept.', steps: 'A next turn continues from it.' },
  aborted: {
    title: 'The server aborted the request.',
    facts: 'The received tokens are kept.',
    steps: 'Check the server’s log, then send again.',
  },
  max_tool_iterations: {
    title: 'The limit of tool iterations was reached.',
    facts: 'The model has not read the last results yet.',
    steps: 'A next turn begins with them.',
  },
  max_tool_calls: {
    title: 'The limit of tool calls was reached.',
    facts: 'The model has not read the last results yet.',
    steps: 'A next turn begins with them.',
  },
  max_messages: { title: 'The limit of messages was reached.', steps: 'Raise it, or send a next turn.' },
  max_tokens: { title: 'The limit of tokens was reached.', steps: 'Raise it, or start a new run.' },
  interrupted: {
    title: 'Rollscope was stopped during this run.',
    facts: 'The trajectory is kept up to its last closed segment.',
    steps: 'A next turn continues from it.',
  },
  truncated: { title: 'This run was cut off.', facts: 'The file does not say why.' },
  unknown: undefined,
}

/** For `length` before max_new_tokens. */
const BELOW_LIMIT: ReasonText = {
  title: 'The server ended the response before max_new_tokens.',
  facts: 'The response was kept unchanged.',
  steps:
    'Check whether the server, a router or a proxy has a lower limit. Or send a next turn: the open turn is closed first.',
}

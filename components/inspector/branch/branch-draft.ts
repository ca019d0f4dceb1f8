/** The input of a branch, as the page edits it, and the request that it becomes. */
import { type BranchBody, type Force, MOST_BRANCHES } from '#lib/api/forest/branch.ts'
import { toSamplingRequest } from '#lib/sampling/sampling-request.ts'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { withResultText } from '#lib/trajectory/messages/conversation.ts'
import { responseCalls } from '#lib/trajectory/messages/response-calls.ts'
import { segmentStarts, type Token, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** What a branch inserts: nothing, an alternative, a text or ids. */
export type Insertion = 'nothing' | 'text' | 'ids' | number

/** The input of a branch. Numbers are texts while they are edited. */
export interface BranchDraft {
  /** The number is the id of an alternative. */
  readonly insertion: Insertion
  /** The text or the ids to insert, or the new text of the message. */
  readonly text: string
  /** Index of the edited message in its segment. */
  readonly message: number
  readonly count: string
  /** '' keeps the recorded temperature. */
  readonly temperature: string
  /** '' keeps the server of the trajectory. */
  readonly server: string
}

/** Returns the draft for a token: nothing is inserted, or the first message of its prompt is edited. */
export const draftFor = (trajectory: TrajectoryView, token: Token): BranchDraft => ({
  insertion: 'nothing',
  text: editableMessages(trajectory, token)[0]?.text ?? '',
  message: 0,
  count: '1',
  temperature: '',
  server: '',
})

/** Returns the messages of the token's prompt, with their texts; none for a sampled token. */
export const editableMessages = (
  trajectory: TrajectoryView,
  { segment }: Token,
): readonly { readonly index: number; readonly role: Message['role']; readonly text: string }[] =>
  segment.kind === 'prompt'
    ? segment.messages.map((message, index) => ({
        index,
        role: message.role,
        text: textOf(withResultText(message, trajectory)),
      }))
    : []

const textOf = ({ content = '' }: Message): string =>
  typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')

/** A request, or the field that is wrong and why. */
export type BranchInput =
  | { readonly ok: true; readonly body: BranchBody }
  | { readonly ok: false; readonly field: 'text' | 'count' | 'temperature'; readonly why: string }

/** Returns the request of a draft. `isCut` stores the tokens before the position without a run. */
export function branchInput(draft: BranchDraft, trajectory: TrajectoryView, token: Token, isCut: boolean): BranchInput {
  const wrong = (field: 'text' | 'count' | 'temperature', why: string): BranchInput => ({ ok: false, field, why })
  const count = Number(draft.count)
  if (!/^\d+$/.test(draft.count.trim()) || count < 1 || count > MOST_BRANCHES)
    return wrong('count', `is a whole number from 1 to ${MOST_BRANCHES}`)
  const temperature = Number(draft.temperature)
  if (draft.temperature.trim() !== '' && !(temperature >= 0 && temperature <= 2))
    return wrong('temperature', 'is a number from 0 to 2, or empty')
  const settings = {
    n: isCut ? 0 : count,
    ...(draft.server !== '' && { server: draft.server }),
    ...(draft.temperature.trim() !== '' && { sampling: { ...recordedSampling(trajectory, token), temperature } }),
  }
  if (token.segment.kind === 'prompt') {
    const { index, indexInSegment } = token
    return {
      ok: true,
      body: { at: index - indexInSegment, edit: { message: draft.message, text: draft.text }, ...settings },
    }
  }
  const force = forceOf(draft)
  if (force === 'no ids') return wrong('text', 'are whole numbers with commas or spaces between them')
  if (force === 'no text') return wrong('text', 'is empty')
  return { ok: true, body: { at: token.index, ...(force && { force }), ...settings } }
}

function forceOf({ insertion, text }: BranchDraft): Force | 'no ids' | 'no text' | undefined {
  if (insertion === 'nothing') return undefined
  if (typeof insertion === 'number') return { alternative: insertion }
  if (insertion === 'text') return text === '' ? 'no text' : { text }
  const ids = text.split(/[\s,[\]]+/).filter((part) => part !== '')
  return ids.length > 0 && ids.every((id) => /^\d{1,9}$/.test(id)) ? { ids: ids.map(Number) } : 'no ids'
}

/** Returns the parameters with which the token was sampled, or the reply to its prompt. */
function recordedSampling({ segments }: TrajectoryView, { segmentIndex, segment, indexInSegment }: Token) {
  const response =
    segment.kind === 'response' ? segment : segments.find(({ kind }, at) => at > segmentIndex && kind === 'response')
  if (response?.kind !== 'response') return {}
  const inside = segment.kind === 'response' ? indexInSegment : 0
  const call = responseCalls(response).find(({ end }) => inside < end)
  return toSamplingRequest(call?.request?.samplingParams ?? {})
}

/** Returns how many tokens the model sampled in the trajectory from a token on: the best guess for a branch. */
export function sampledAfter(trajectory: TrajectoryView, { index }: Token): number {
  const starts = segmentStarts(trajectory)
  return trajectory.segments.reduce((count, { kind, ids }, segment) => {
    const start = starts[segment] ?? tokenCount(trajectory)
    return kind === 'response' ? count + Math.max(0, start + ids.length - Math.max(start, index)) : count
  }, 0)
}

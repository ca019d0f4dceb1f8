/** The input of a branch, as the page edits it, and the request that it becomes. */
import { estimatedTokens } from '#lib/analysis/value/cost.ts'
import { type BranchBody, type Force, MOST_BRANCHES } from '#lib/api/forest/branch.ts'
import { toSamplingRequest } from '#lib/sampling/sampling-request.ts'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { messageText, withResultText } from '#lib/trajectory/messages/conversation.ts'
import { requestAt } from '#lib/trajectory/messages/response-calls.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** What a branch inserts: nothing, an alternative by its id, a text or ids. */
export type Insertion = 'nothing' | 'text' | 'ids' | number

/** The input of a branch. Numbers are texts while they are edited. */
export interface BranchDraft {
  readonly insertion: Insertion
  /** The text or the ids to insert, or the new text of the message. */
  readonly text: string
  /** Index of the edited message in its segment. */
  readonly message: number
  /** Number of resamples. */
  readonly count: string
  /** Sampling parameters; '' keeps the recorded one. */
  readonly temperature: string
  readonly topP: string
  readonly maxNewTokens: string
  /** Most responses with tool calls; '' keeps the recorded limit. */
  readonly toolRounds: string
  /** '' keeps the server of the trajectory. */
  readonly server: string
}

/** What a branch does after the position: it samples once or as often as the draft says, or it ends there. */
export type BranchAction = 'continue' | 'resample' | 'cut'

/** Returns the draft for a token: nothing is inserted, or the first message of its prompt is edited. */
export const draftFor = (trajectory: TrajectoryView, token: Token): BranchDraft => ({
  insertion: 'nothing',
  text: editableMessages(trajectory, token)[0]?.text ?? '',
  message: 0,
  count: '8',
  temperature: '',
  topP: '',
  maxNewTokens: '',
  toolRounds: '',
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
        text: messageText(withResultText(message, trajectory)),
      }))
    : []

/** A field of the draft that can be wrong. */
export type DraftField = 'text' | 'count' | 'temperature' | 'topP' | 'maxNewTokens' | 'toolRounds'

/** A request, or the field that is wrong and why. */
export type BranchInput =
  | { readonly ok: true; readonly body: BranchBody }
  | { readonly ok: false; readonly field: DraftField; readonly why: string }

/** Numbers of the draft: which texts are valid, and what an error says. */
const NUMBERS: readonly {
  readonly field: Exclude<DraftField, 'text' | 'count'>
  readonly isValid: (value: number) => boolean
  readonly why: string
}[] = [
  { field: 'temperature', isValid: (value) => value >= 0 && value <= 2, why: 'is a number from 0 to 2, or empty' },
  { field: 'topP', isValid: (value) => value > 0 && value <= 1, why: 'is a number above 0, at most 1, or empty' },
  {
    field: 'maxNewTokens',
    isValid: (value) => Number.isInteger(value) && value >= 1,
    why: 'is a whole number from 1, or empty',
  },
  {
    field: 'toolRounds',
    isValid: (value) => Number.isInteger(value) && value >= 0,
    why: 'is a whole number from 0, or empty',
  },
]

/** Returns the request of a draft. */
export function branchInput(
  draft: BranchDraft,
  trajectory: TrajectoryView,
  token: Token,
  action: BranchAction,
): BranchInput {
  const wrong = (field: DraftField, why: string): BranchInput => ({ ok: false, field, why })
  const count = Number(draft.count)
  if (action === 'resample' && (!/^\d+$/.test(draft.count.trim()) || count < 1 || count > MOST_BRANCHES))
    return wrong('count', `is a whole number from 1 to ${MOST_BRANCHES}`)
  for (const { field, isValid, why } of NUMBERS)
    if (draft[field].trim() !== '' && !isValid(Number(draft[field]))) return wrong(field, why)
  const sampling = changedSampling(draft)
  const settings = {
    n: action === 'cut' ? 0 : action === 'continue' ? 1 : count,
    ...(draft.server !== '' && { server: draft.server }),
    ...(sampling && { sampling: { ...recordedSampling(trajectory, token), ...sampling } }),
    ...(draft.toolRounds.trim() !== '' && {
      limits: { ...recordedLimits(trajectory), maxToolIterations: Number(draft.toolRounds) },
    }),
  }
  if (token.segment.kind === 'prompt') {
    const { index, indexInSegment } = token
    if (draft.text === editableMessages(trajectory, token)[draft.message]?.text) return wrong('text', 'is unchanged')
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

/** Returns the sampling parameters that the draft changes; undefined if it changes none. */
function changedSampling({ temperature, topP, maxNewTokens }: BranchDraft): SamplingRequest | undefined {
  const changed = {
    ...(temperature.trim() !== '' && { temperature: Number(temperature) }),
    ...(topP.trim() !== '' && { top_p: Number(topP) }),
    ...(maxNewTokens.trim() !== '' && { max_new_tokens: Number(maxNewTokens) }),
  }
  return Object.keys(changed).length > 0 ? changed : undefined
}

const recordedLimits = ({ provenance }: TrajectoryView) =>
  provenance.kind === 'rollout' ? provenance.limits : undefined

const recordedSampling = (trajectory: TrajectoryView, token: Token) =>
  toSamplingRequest(requestAt(trajectory, token)?.samplingParams ?? {})

/** Returns how many tokens the model sampled in the trajectory from a token on: the best guess for a branch. */
export const sampledAfter = (trajectory: TrajectoryView, { index }: Token): number =>
  estimatedTokens(trajectory, [index], 1)

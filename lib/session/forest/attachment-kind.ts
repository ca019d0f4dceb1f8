/**
 * How a call attaches to the forest, as the session page names it: what the client did with the history that it had before. The kind
 * follows from the messages alone.
 */
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type EqualityRules, formAnywhere } from './equality.ts'

/** What the client did with its history. Numbers of messages count from 1. */
export type AttachmentKind =
  /** It shares no history with a call of the same tools and template. */
  | {
      readonly kind: 'new-root'
      readonly because: NewRootReason
      /** The node that the call would have continued with unchanged tools and template, or without the deletion. Omitted: none. */
      readonly instead?: number
    }
  /** The client added messages to the last history with this beginning. */
  | { readonly kind: 'continued' }
  /** The client sent the same prompt again. */
  | {
      readonly kind: 'retried'
      /** The first node of the call that it repeated. */
      readonly of: number
      /** True if that call had not ended when this one was sent: it is another sample of the prompt, unless that call has no whole reply. */
      readonly isConcurrent?: true
    }
  /** The client cut its history after message `to`, and added messages. */
  | {
      readonly kind: 'rolled-back'
      readonly to: number
      readonly dropped: number
      readonly added: number
      /** Last node of the history that it cut. */
      readonly abandoned: number
    }
  /** The client edited, compacted or summarised its history: from message `from` on, `replaced` messages are now `by` messages. */
  | {
      readonly kind: 'rewritten'
      readonly from: number
      readonly replaced: number
      readonly by: number
      /** Last node of the history that it rewrote, of those whose reply it kept if it kept some. */
      readonly abandoned: number
    }

/** Why a call begins a new tree. */
type NewRootReason =
  /** No call before it has a reply that the client read. */
  | 'first-call'
  /** It has another system prompt, as sub-agents have. */
  | 'system-prompt'
  /** It begins with another message and has no system prompt. */
  | 'first-message'
  /** The tools are different. */
  | 'tools'
  /** The chat template or its options are different. */
  | 'template'
  /** The trajectory that it would have continued was deleted. */
  | 'deleted'

/** The history of an earlier call that the call shares most messages with. */
export interface SharedHistory {
  /** Number of messages that both begin with. */
  readonly shared: number
  /** Messages of the earlier history after those, including its reply if the client read it. */
  readonly rest: readonly Message[]
  /** Node of the earlier history. */
  readonly node: number
}

/**
 * Returns the kind of a call that continues the earlier history, or that kept none of the replies after `shared`. `kept` is the number of
 * messages of the parent's path, 0 without a parent.
 */
export function changeOfHistory(
  { length }: readonly Message[],
  { shared, rest, node: abandoned }: SharedHistory,
  kept: number,
): AttachmentKind {
  const added = length - shared
  if (rest.length === 0) return { kind: 'continued' }
  // After a whole reply, the client went back to it. Anywhere else, it replaced what followed.
  if (added === 0 || (kept > 0 && kept === shared))
    return { kind: 'rolled-back', to: shared, dropped: rest.length, added, abandoned }
  return { kind: 'rewritten', from: shared + 1, replaced: rest.length, by: added, abandoned }
}

/** Returns the kind of a call that changed messages before a reply of the earlier history, and kept this reply; undefined if it kept none. */
export function changeBeforeReply(
  messages: readonly Message[],
  { shared, rest, node: abandoned }: SharedHistory,
  rules: EqualityRules,
): AttachmentKind | undefined {
  const again = findEqualTail(rest, messages.slice(shared), rules)
  return again && { kind: 'rewritten', from: shared + 1, replaced: again.rest, by: again.added, abandoned }
}

/** Returns whether two histories that share `shared` messages have the same system prompt, or without one the same first message. */
export function hasSameBeginning(messages: readonly Message[], other: readonly Message[], shared: number): boolean {
  return shared >= Math.max(1, systemMessages(messages), systemMessages(other))
}

/** Returns the number of messages at the beginning that are a system prompt. */
export function systemMessages(messages: readonly Message[]): number {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  return first < 0 ? messages.length : first
}

/**
 * Returns where two lists of messages are equal again, after their different beginnings: at the first reply of the model that
 * `added` kept, and at the equal messages before it. Undefined if it kept none.
 */
function findEqualTail(
  rest: readonly Message[],
  added: readonly Message[],
  rules: EqualityRules,
): { readonly rest: number; readonly added: number } | undefined {
  const [before, after] = [rest, added].map((messages) => messages.map((message) => formAnywhere(message, rules))) as [
    string[],
    string[],
  ]
  const replies = new Map<string, number[]>()
  for (const [index, { role }] of rest.entries())
    if (role === 'assistant') {
      const form = elementAt(before, index)
      replies.set(form, [...(replies.get(form) ?? []), index])
    }
  for (const [index, form] of after.entries()) {
    // The first messages of both differ, even if only by what this form leaves out.
    const found = replies.get(form)?.find((each) => each > 0 || index > 0)
    if (found === undefined) continue
    let [atRest, atAdded] = [found, index]
    while (atRest > 0 && atAdded > 0 && atRest + atAdded > 2 && before[atRest - 1] === after[atAdded - 1]) {
      atRest--
      atAdded--
    }
    return { rest: atRest, added: atAdded }
  }
  return undefined
}

/**
 * The index of a forest: one position for each different history of its calls. Positions form a tree whose edges are normal forms of
 * messages, so a history is found by one lookup for each of its messages.
 */
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import {
  callIdsOf,
  type EqualityRules,
  hasReasoning,
  type NormalHistory,
  normalHistory,
  reasoningOf,
} from './equality.ts'

/** A history that calls have in common. */
export interface Position {
  /** The history without its last message. Undefined for the empty history. */
  readonly before: Position | undefined
  readonly message: Message | undefined
  /** Number of messages. */
  readonly depth: number
  /** Longer histories by the normal form of their next message. Those of one form differ in the reasoning that a client may leave out. */
  readonly children: Map<string, Position[]>
  /** Sequence numbers of the nodes whose prompt is this history, in order. */
  readonly prompted: number[]
  /** Sequence numbers of the nodes whose path is this history, in order. */
  readonly replied: number[]
  /** By context, the last node with a reply whose path begins with this history. */
  readonly latest: Map<string, number>
}

/** Returns the position of a history without messages. */
export const emptyHistory = (): Position => position(undefined, undefined)

const position = (before: Position | undefined, message: Message | undefined): Position => ({
  before,
  message,
  depth: before ? before.depth + 1 : 0,
  children: new Map(),
  prompted: [],
  replied: [],
  latest: new Map(),
})

/** Returns the messages of a history after its first `from`. */
export function messagesOf(end: Position, from = 0): readonly Message[] {
  const messages: Message[] = []
  for (let at: Position | undefined = end; at?.message && at.depth > from; at = at.before) messages.push(at.message)
  return messages.reverse()
}

/**
 * Returns the position after further messages, and adds the positions that are missing. `before` are the messages up to `start`, as the
 * further messages name their calls: another node may have reached the same position with other ids.
 */
export function extend(
  start: Position,
  before: readonly Message[],
  messages: readonly Message[],
  rules: EqualityRules,
): Position {
  const history = normalHistory(messages, rules, [...new Set(before.flatMap(callIdsOf))])
  return messages.reduce((at, message, index) => {
    const form = history.form(index)
    const same = at.children.get(form) ?? []
    const reasoning = reasoningOf(message, rules)
    const found = same.find((child) => child.message && reasoningOf(child.message, rules) === reasoning)
    if (found) return found
    const added = position(at, message)
    at.children.set(form, [...same, added])
    return added
  }, start)
}

const NO_POSITIONS: readonly Position[] = []

/** What the index knows of a history that a client sent. */
export interface FoundHistory {
  /** Nodes whose prompt is the whole history, in order. */
  readonly prompted: readonly number[]
  /** Nodes whose path is a prefix of the history, the deepest ones last, and of these the latest. */
  readonly prefixes: readonly number[]
  /** Positions of the prefixes of the history, at least the empty one. Several have the same depth if a client left out reasoning. */
  readonly positions: readonly Position[]
}

/** Finds a history. Takes one lookup for each message, until no call has the message. */
export function findHistory(history: NormalHistory, root: Position, rules: EqualityRules): FoundHistory {
  const positions = [root]
  const prefixes: number[] = []
  const { messages } = history
  let open = [root]
  for (const [index, message] of messages.entries()) {
    const form = history.form(index)
    const reasoning = reasoningOf(message, rules)
    const longer: Position[] = []
    for (const { children } of open)
      for (const child of children.get(form) ?? NO_POSITIONS)
        if (child.message && hasReasoning(reasoningOf(child.message, rules), reasoning)) longer.push(child)
    open = longer
    if (open.length === 0) break
    const from = prefixes.length
    for (const { replied } of open) prefixes.push(...replied)
    positions.push(...open)
    if (open.length > 1) prefixes.push(...prefixes.splice(from).sort((a, b) => a - b))
  }
  const whole = open.filter(({ depth }) => depth === messages.length)
  return { prompted: whole.flatMap(({ prompted }) => prompted).sort((a, b) => a - b), prefixes, positions }
}

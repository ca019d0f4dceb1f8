/** Finds the session of a call whose address names none: /sessions/auto. */
import { type NormalHistory, normalHistory } from './equality.ts'
import type { ForestCall, SessionForest } from './forest.ts'

/** A session that may have the history of a call. */
export interface OpenSession {
  readonly id: string
  readonly forest: SessionForest
}

/** The session of a call. */
export type FoundSession =
  /** The client named it. The session may not exist yet. */
  | { readonly kind: 'named'; readonly id: string }
  /** The call continues, repeats or rewrites a history of this session. */
  | { readonly kind: 'matched'; readonly id: string }
  /** No session has a call whose history and reply the call begins with. */
  | { readonly kind: 'new' }

/**
 * Finds the session of a call: the one that the client names, or the one with the longest recorded history at the beginning of the
 * call. Of several the last one in `sessions` is used, which are those of one key in the order of their last calls. A new root, such
 * as the first call of a sub-agent, matches no session.
 */
export function findSession(
  { messages, context }: ForestCall,
  named: string | undefined,
  sessions: readonly OpenSession[],
): FoundSession {
  if (named !== undefined) return { kind: 'named', id: named }
  const histories = new Map<SessionForest['rules'], NormalHistory>()
  let best: { readonly id: string; readonly messages: number } | undefined
  for (const { id, forest } of sessions) {
    const history = histories.get(forest.rules) ?? normalHistory(messages, forest.rules)
    histories.set(forest.rules, history)
    const recorded = forest.recorded(history, context)
    if (recorded > 0 && recorded >= (best?.messages ?? 0)) best = { id, messages: recorded }
  }
  return best ? { kind: 'matched', id: best.id } : { kind: 'new' }
}

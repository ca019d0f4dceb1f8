/** Finds the session of a call whose address names none: /sessions/auto. */
import { type NormalHistory, normalHistory } from './equality.ts'
import type { ForestCall, SessionForest } from './forest.ts'

/** A session that may have the history of a call. */
export interface OpenSession {
  readonly id: string
  readonly forest: SessionForest
}

/**
 * Returns the id of the session with the longest recorded history at the beginning of a call. Of several the last one in `sessions` is
 * used, which are in the order of their last calls. Undefined: no session has a call whose history and reply the call begins with, as for
 * a new root, such as the first call of a sub-agent.
 */
export function findSession({ messages, context }: ForestCall, sessions: readonly OpenSession[]): string | undefined {
  const histories = new Map<SessionForest['rules'], NormalHistory>()
  let best: { readonly id: string; readonly messages: number } | undefined
  for (const { id, forest } of sessions) {
    const history = histories.get(forest.rules) ?? normalHistory(messages, forest.rules)
    histories.set(forest.rules, history)
    const recorded = forest.recorded(history, context)
    if (recorded > 0 && recorded >= (best?.messages ?? 0)) best = { id, messages: recorded }
  }
  return best?.id
}

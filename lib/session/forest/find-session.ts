/** Finds the session of a call whose address names none: /sessions/auto. */
import { systemMessages } from './attachment-kind.ts'
import { ALL_RULES, type NormalHistory, normalHistory } from './equality.ts'
import { type ForestCall, type SessionForest, textHash } from './forest.ts'

/** A session that may have the history of a call. */
export interface SessionCandidate {
  readonly id: string
  readonly forest: SessionForest
  /** Whether a call that repeats a first prompt is a retry. False: it begins another session. */
  readonly takesRetries: boolean
}

/**
 * Returns the id of the session with the longest recorded history at the beginning of a call. Of several the last one in `sessions` is
 * used, which are in the order of their last calls: a script that runs again may get the same replies as before. Undefined: no session has a
 * call whose history and reply the call begins with, as for a new root, such as the first call of a sub-agent.
 */
export function findSession(
  { messages, context }: ForestCall,
  sessions: readonly SessionCandidate[],
): string | undefined {
  const histories = new Map<SessionForest['rules'], NormalHistory>()
  let best: { readonly id: string; readonly messages: number } | undefined
  for (const { id, forest, takesRetries } of sessions) {
    const history = histories.get(forest.rules) ?? normalHistory(messages, forest.rules)
    histories.set(forest.rules, history)
    const recorded = forest.recorded(history, context)
    if (recorded.messages === 0 && !(recorded.isPrompt && takesRetries)) continue
    if (recorded.messages >= (best?.messages ?? 0)) best = { id, messages: recorded.messages }
  }
  return best?.id
}

/**
 * Returns a key of the beginning of a history: its system prompt and the message after it, with the context of the call. A history has the
 * same key as each call that continues or repeats it, so the sessions that may have the history of a call are looked up by their roots.
 */
export function beginningKey({ messages, context: { tools, template } }: Omit<ForestCall, 'n'>): string {
  const system = systemMessages(messages)
  // The reply to a prompt that is only a system prompt is not a part of the prompt.
  const count = messages[system]?.role === 'assistant' ? system : Math.min(system + 1, messages.length)
  const { form } = normalHistory(messages, ALL_RULES)
  return textHash(JSON.stringify([tools, template, ...Array.from({ length: count }, (_, index) => form(index))]))
}

/** Repeats a conversation to many calls of the model: how long the prompt of each call is, and how much of it a server has cached. */

import { growingEncoder } from '#lib/rollout/prompt/growing-encoder.ts'
import { endOfTurnId } from '#lib/rollout/prompt/prompt.ts'
import type { LabTokenizer } from '#lib/tasks/task.ts'
import type { RenderInput } from '#lib/templates/chat-template.ts'
import { PyDict } from '#lib/templates/jinja/python/values.ts'
import { type ReplayCosts, type ReplayedCall, startReplay } from '#lib/trajectory/drift/replay.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { type InputError, orTemplateFailure } from '../document/input.ts'

interface Counted {
  readonly turns: readonly ReplayedCall[]
  /** Training rows of all these calls. */
  readonly rows: ReplayCosts['rows']
}

/** The counts of all calls, or why there are none. */
export type TurnCounts =
  | ({ readonly kind: 'counted' } & Counted)
  /** `turns` and `rows` are those before the error. */
  | ({ readonly kind: 'refused'; readonly error: InputError } & Counted)
  | { readonly kind: 'none'; readonly why: string }

type Messages = RenderInput['messages']

/** Returns what is repeated: all messages after the leading system messages, to the last reply; undefined if there is no reply. */
export function turnPattern(messages: Messages): { readonly head: Messages; readonly cycle: Messages } | undefined {
  const roles = messages.map(roleOf)
  const first = roles.findIndex((role) => role !== 'system' && role !== 'developer')
  const last = roles.lastIndexOf('assistant')
  if (first < 0 || last < first) return undefined
  return { head: messages.slice(0, first), cycle: messages.slice(first, last + 1) }
}

/** Counts the calls; yields the counts after each call. */
export function* countTurns(
  template: string,
  input: RenderInput,
  calls: number,
  { tokenizer, compile }: LabTokenizer,
): Generator<TurnCounts, TurnCounts> {
  const pattern = turnPattern(input.messages)
  if (!pattern) return { kind: 'none', why: 'the conversation has no assistant reply to repeat' }
  const replay = startReplay()
  const counted = (): Counted => {
    const { calls: turns, rows } = replay.costs()
    return { turns, rows }
  }
  const compiled = orTemplateFailure(() => compile(template))
  if (!compiled.ok) return { kind: 'refused', ...counted(), error: compiled.error }
  const encode = growingEncoder(tokenizer)
  const endOfTurn = endOfTurnId({ tokenizer, template: compiled.value }, input.options)
  const rendered = (messages: Messages, addGenerationPrompt: boolean) =>
    orTemplateFailure(() =>
      compiled.value.render({ ...input, messages, addGenerationPrompt, continueFinalMessage: false }),
    )
  const messages = [...pattern.head]
  for (let turns = 0; ; ) {
    for (const message of pattern.cycle) {
      if (roleOf(message) === 'assistant') {
        const prompt = rendered(messages, true)
        if (!prompt.ok) return { kind: 'refused', ...counted(), error: prompt.error }
        const after = rendered([...messages, message], false)
        if (!after.ok) return { kind: 'refused', ...counted(), error: after.error }
        const reply = tokenizer.encode(after.value.slice(commonText(prompt.value, after.value)))
        // The model stops at the end of its turn, whatever the template writes after it.
        const end = endOfTurn === undefined ? -1 : reply.lastIndexOf(endOfTurn)
        replay.add({ prompt: encode(prompt.value), sampled: end < 0 ? reply : reply.slice(0, end + 1) })
        turns++
        if (turns === calls) return { kind: 'counted', ...counted() }
        yield { kind: 'counted', ...counted() }
      }
      messages.push(message)
    }
  }
}

const roleOf = (message: Messages[number]): unknown => (message instanceof PyDict ? message.get('role') : message.role)

/**
 * A conversation repeated to many calls of the model: how long each call's prompt is, and how much of what a server has
 * cached by then it begins with.
 */
import { commonIds } from '#lib/core/common-prefix.ts'
import type { RenderInput } from '#lib/templates/chat-template.ts'
import { PyDict } from '#lib/templates/jinja/python/values.ts'
import { type InputError, orTemplateFailure } from '../input.ts'
import type { LabTokenizer } from '../task.ts'

/** One call of the model. */
interface Turn {
  /** Tokens of the prompt, all of the conversation before included. */
  readonly tokens: number
  /** How many of the tokens cached by the call before (its prompt and its reply) this prompt begins with, and their number. */
  readonly cached: { readonly kept: number; readonly of: number } | undefined
}

export type Turns =
  | { readonly kind: 'counted'; readonly turns: readonly Turn[] }
  /** `turns`: those before. */
  | { readonly kind: 'refused'; readonly turns: readonly Turn[]; readonly error: InputError }
  | { readonly kind: 'none'; readonly why: string }

type Messages = RenderInput['messages']

/** What is repeated: all that follows the leading system messages, to the last reply. */
export function turnPattern(messages: Messages): { readonly head: Messages; readonly cycle: Messages } | undefined {
  const roles = messages.map(roleOf)
  const first = roles.findIndex((role) => role !== 'system' && role !== 'developer')
  const last = roles.lastIndexOf('assistant')
  if (first < 0 || last < first) return undefined
  return { head: messages.slice(0, first), cycle: messages.slice(first, last + 1) }
}

/** Yields the turns so far, after each. */
export function* countTurns(
  template: string,
  input: RenderInput,
  calls: number,
  { tokenizer, compile }: LabTokenizer,
): Generator<Turns, Turns> {
  const pattern = turnPattern(input.messages)
  if (!pattern) return { kind: 'none', why: 'the conversation has no reply of the assistant that could be repeated' }
  const compiled = orTemplateFailure(() => compile(template))
  if (!compiled.ok) return { kind: 'refused', turns: [], error: compiled.error }
  const encoded = (messages: Messages, addGenerationPrompt: boolean) =>
    orTemplateFailure(() => tokenizer.encode(compiled.value.render({ ...input, messages, addGenerationPrompt })))
  const turns: Turn[] = []
  const messages = [...pattern.head]
  let cached: readonly number[] | undefined
  while (turns.length < calls) {
    for (const message of pattern.cycle) {
      if (roleOf(message) === 'assistant') {
        const prompt = encoded(messages, true)
        if (!prompt.ok) return { kind: 'refused', turns, error: prompt.error }
        const after = encoded([...messages, message], false)
        if (!after.ok) return { kind: 'refused', turns, error: after.error }
        turns.push({
          tokens: prompt.value.length,
          cached: cached && { kept: commonIds(cached, prompt.value), of: cached.length },
        })
        cached = after.value
        if (turns.length === calls) break
        yield { kind: 'counted', turns: [...turns] }
      }
      messages.push(message)
    }
  }
  return { kind: 'counted', turns }
}

const roleOf = (message: Messages[number]): unknown => (message instanceof PyDict ? message.get('role') : message.role)

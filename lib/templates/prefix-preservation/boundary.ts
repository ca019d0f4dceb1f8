/** Scripted conversations: one for each boundary, with and without thinking, and with and without content next to calls. */

import type { ScriptCall, ScriptMessage, ScriptReply } from './fix/script.ts'
import type { Boundary, Thinking } from './report.ts'

/** A reply with the messages before it and the new messages after it. */
export interface ReplyBoundary {
  readonly history: readonly ScriptMessage[]
  readonly reply: ScriptReply
  /** New messages after the reply; empty if the conversation ends with the reply. */
  readonly added: readonly ScriptMessage[]
}

/** What a scripted turn contains. */
export interface TurnShape {
  readonly boundary: Boundary
  readonly content: 'with' | 'without' | 'none'
  readonly thinking: Thinking
  readonly takesSystem: boolean
  /** Name of a tool that is given to the template. */
  readonly toolName: string
}

/** Returns the contents that a reply at this boundary may have next to its calls; `none` if it has no calls. */
export const contentsOf = (boundary: Boundary): readonly TurnShape['content'][] =>
  boundary === 'end' || boundary === 'user' || boundary === 'system' ? ['none'] : ['without', 'with']

/**
 * Returns the scripted turn. Every conversation begins with a question and its answer, so that the template may rewrite an earlier reply.
 */
export function scriptedTurn({ boundary, content, thinking, takesSystem, toolName }: TurnShape): ReplyBoundary {
  const thought = (text: string): string | undefined => (thinking === 'off' ? undefined : text)
  const earlier = (text: string): string | undefined => (thinking === 'on' ? text : undefined)
  const call = (number: number, city: string): ScriptCall => ({
    // Mistral's templates refuse ids that are not nine letters and digits.
    id: `call0000${number}`,
    name: toolName,
    arguments: JSON.stringify({ city, days: 2 })
      .replaceAll(/([:,])"/g, '$1 "')
      .replace(':2', ': 2'),
  })
  const [first, second] = [call(1, 'Zürich'), call(2, 'Oslo')]
  const opening: readonly ScriptMessage[] = [
    ...(takesSystem ? [{ role: 'system', content: 'You know the weather.' } as const] : []),
    { role: 'user', content: 'Hello' },
    { role: 'assistant', thinking: earlier('A greeting.'), content: 'Hello! Where are you?', calls: [] },
    { role: 'user', content: 'In Zürich. Will it rain?' },
  ]
  const answer: ScriptReply = {
    role: 'assistant',
    thinking: thought('The forecast says sun.'),
    content: 'No, sun.',
    calls: [],
  }
  const asking = (calls: readonly ScriptCall[]): ScriptReply => ({
    role: 'assistant',
    thinking: thought('I need the forecast.'),
    content: content === 'with' ? 'I look it up.' : '',
    calls,
  })
  const replyAfter = (text: string): ScriptReply => ({ ...asking([first]), thinking: earlier(text) })
  const sun = { role: 'tool', call: first, content: 'sunny and warm' } as const
  const rain = { role: 'tool', call: second, content: 'rain and wind' } as const
  switch (boundary) {
    case 'end':
      return { history: opening, reply: answer, added: [] }
    case 'user':
      return {
        history: [...opening, replyAfter('The forecast tells.'), sun],
        reply: answer,
        added: [{ role: 'user', content: 'And tomorrow?' }],
      }
    case 'system':
      return { history: opening, reply: answer, added: [{ role: 'system', content: 'Answer in French.' }] }
    case 'tool':
      return { history: opening, reply: asking([first]), added: [sun] }
    case 'parallel':
      return { history: opening, reply: asking([first, second]), added: [sun, rain] }
    case 'order':
      return { history: opening, reply: asking([first, second]), added: [rain, sun] }
    case 'retry':
      return {
        history: [...opening, replyAfter('The forecast tells.'), { ...sun, content: 'Error: no such city' }],
        reply: asking([second]),
        added: [rain],
      }
    case 'chain':
      return {
        history: [
          ...opening,
          replyAfter('The forecast tells.'),
          sun,
          { ...answer, thinking: earlier('Sun it is.') },
          { role: 'user', content: 'And in Oslo?' },
        ],
        reply: asking([second]),
        added: [rain],
      }
  }
}

/** Samples of the template lab: templates in the form of known models, and conversations to render. Their files are in public/templates. */
import { memberOf, readJsonText, sourceOf } from '#lib/json/json-text.ts'
import type { LabInput } from '#lib/tasks/task.ts'

interface Sample {
  /** Name of the file, without its extension. */
  readonly name: string
  readonly title: string
  readonly note: string
}

/** The sample templates, in the order of the menu. */
export const TEMPLATES: readonly Sample[] = [
  { name: 'qwen3-like', title: 'Qwen3-like', note: 'Hermes tool calls; thinking of earlier turns is dropped' },
  { name: 'chatml', title: 'ChatML', note: 'every message looks the same; no tools' },
  { name: 'llama3-like', title: 'Llama-3-like', note: 'headers, tools in the first question, one call at a time' },
  {
    name: 'mistral-like',
    title: 'Mistral-like',
    note: '[INST], roles must take turns, tools before the last question',
  },
  { name: 'glm-like', title: 'GLM-like', note: 'nothing ends a turn; arguments in tags' },
  { name: 'generation-block', title: 'ChatML with {% generation %}', note: 'marks the generated text for the trainer' },
]

/** The sample conversations, in the order of the menu. */
export const CONVERSATIONS: readonly Sample[] = [
  { name: 'thinking', title: 'Thinking and a call, two questions', note: 'reasoning_content in every turn' },
  { name: 'one-call', title: 'One tool call', note: 'a system message, a float among the arguments' },
  { name: 'parallel-calls', title: 'Two calls at once', note: 'with content beside them; results in order' },
  { name: 'plain', title: 'No tools', note: 'a system message and two questions' },
]

/** Template of a new document. */
export const FIRST_TEMPLATE = 'qwen3-like'
/** Conversation of a new document. */
export const FIRST_CONVERSATION = 'thinking'

/** Returns the texts in a conversation's file, spelled as there; undefined if the file is not JSON. */
export function conversationTexts(file: string): Omit<LabInput, 'template'> | undefined {
  const reading = readJsonText(file)
  if (!reading.ok) return undefined
  const text = (key: string): string => {
    const member = memberOf(reading.root, key)
    return member ? sourceOf(file, member.value) : ''
  }
  return { messages: text('messages'), tools: text('tools'), options: text('options') }
}

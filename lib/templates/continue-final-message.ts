/**
 * Implements continue_final_message of transformers 5.23: the last message is rendered with a tag after it, and the text is cut at the tag,
 * so that the model continues the message instead of beginning a new one.
 */
import { typeName } from './jinja/python/text/repr.ts'
import { stripText } from './jinja/python/text/text-search.ts'
import { PyDict, PyError, PyTuple, type Value } from './jinja/python/values.ts'
import type { Rendering } from './jinja/rendering.ts'

/** Names under which the reasoning of a message is passed; templates read the first one that is present. */
export const REASONING = ['reasoning_content', 'thinking', 'reasoning']

const WORD = 'CONTINUE_FINAL_MESSAGE_TAG'
const TAG = `${WORD} `

/** Errors of this option are those of Python, word for word. */
const CONTINUED_AND_PROMPTED =
  'continue_final_message and add_generation_prompt are not compatible. Use continue_final_message when you want the model ' +
  'to continue the final message, and add_generation_prompt when you want to add a header that will prompt it to start a ' +
  'new assistant message instead.'

/** Error of transformers if a mask is requested too. */
export const CONTINUED_AND_MASKED = 'continue_final_message is not compatible with return_assistant_tokens_mask.'

interface Tagged {
  readonly messages: readonly PyDict[]
  /** The text that the model continues. */
  readonly final: string
}

/** Returns the messages with a tag after the field of the last one. Throws PyError. */
export function tagFinalMessage(
  messages: readonly PyDict[],
  field: string,
  { template, addGenerationPrompt }: { readonly template: string; readonly addGenerationPrompt: boolean },
): Tagged {
  if (addGenerationPrompt) throw new PyError('ValueError', CONTINUED_AND_PROMPTED)
  const last = messages.at(-1) as PyDict
  const final = last.get(field) ?? null
  if (final === null)
    throw valueError(`continue_final_message is set but the final message has no "${field}" to continue!`)
  // Reasoning is present under several names, and the template may read any of them.
  const fields = REASONING.includes(field) ? REASONING.filter((name) => last.get(name) === final) : [field]
  if (!fields.some((name) => template.includes(name)))
    throw valueError(
      `continue_final_message is set to "${field}" but this is not an accepted field in the chat_template`,
    )
  const items = final instanceof PyTuple ? final.items : final
  const { value, text } = Array.isArray(items) ? taggedBlocks(items) : { value: taggedText(final), text: final }
  const changed = new Map<Value, Value>(fields.map((name) => [name, value]))
  const message = PyDict.of([...last.entries()].map(([name, old]) => [name, changed.get(name) ?? old]))
  return { messages: [...messages.slice(0, -1), message], final: text as string }
}

/** Returns the render of tagged messages up to the tag. Throws PyError if the template does not write the message. */
export function cutAtTag(rendering: Rendering, { final }: Tagged): Rendering {
  const { text } = rendering
  const message = stripText(final, undefined, 'both')
  const at = text.lastIndexOf(WORD)
  if (at < 0 || !text.includes(message))
    throw valueError(
      'continue_final_message is set but the final message does not appear in the chat after applying the chat template! ' +
        'This can happen if the chat template deletes portions of the final message. Please verify the chat template and ' +
        `final message in your chat to ensure they are compatible.Final message to continue: ${message}\nRendered chat:\n${text}`,
    )
  const before = text.slice(0, at)
  // A template that trims the message has removed the space after the tag, and would have removed the space before it.
  const stripped = text.startsWith(TAG, at) ? before : stripText(before, undefined, 'right')
  const within = <Range extends { readonly start: number; readonly end: number }>(ranges: readonly Range[]): Range[] =>
    ranges
      .filter(({ start }) => start < stripped.length)
      .map((range) => ({ ...range, end: Math.min(range.end, stripped.length) }))
  return { ...rendering, text: stripped, pieces: within(rendering.pieces), generation: within(rendering.generation) }
}

/** Returns the blocks with the tag after the last block that has a text. */
function taggedBlocks(blocks: readonly Value[]): { readonly value: Value; readonly text: Value } {
  const at = blocks.findLastIndex(hasText)
  const block = blocks[at]
  if (block === undefined)
    throw valueError('continue_final_message is set but we could not find any text to continue in the final message!')
  if (!(block instanceof PyDict))
    throw new PyError(
      'TypeError',
      typeof block === 'string'
        ? "string indices must be integers, not 'str'"
        : `${typeName(block)} indices must be integers or slices, not str`,
    )
  const text = block.get('text') as Value
  const value = taggedText(text)
  return {
    value: blocks.with(at, PyDict.of([...block.entries()].map(([name, old]) => [name, name === 'text' ? value : old]))),
    text,
  }
}

/** Implements `"text" in block`. */
function hasText(block: Value): boolean {
  if (block instanceof PyDict) return block.has('text')
  if (typeof block === 'string' || Array.isArray(block)) return block.includes('text')
  throw new PyError('TypeError', `argument of type '${typeName(block)}' is not iterable`)
}

function taggedText(text: Value): string {
  if (typeof text === 'string') return text + TAG
  throw new PyError(
    'TypeError',
    Array.isArray(text)
      ? 'can only concatenate list (not "str") to list'
      : `unsupported operand type(s) for +: '${typeName(text)}' and 'str'`,
  )
}

const valueError = (message: string): PyError => new PyError('ValueError', message)

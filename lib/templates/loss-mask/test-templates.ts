/** Test double: a template whose pieces, messages and generation spans are written by hand. */
import {
  type CompiledTemplate,
  type RenderInput,
  TemplateError,
  type TemplateMessage,
} from '#lib/templates/chat-template.ts'
import type { RenderedPiece, Rendering } from '#lib/templates/jinja/rendering.ts'

/** Text that a template writes for one message or for its generation prompt. */
export interface MaskedRange {
  readonly text: string
  readonly line?: number
  readonly source?: RenderedPiece['source']
  /** Whether the text is in a generation block. */
  readonly generated?: boolean
}

/** Returns a template made of functions: `message` writes each message, `open` the generation prompt. */
export function writtenTemplate(
  message: (message: TemplateMessage, index: number, all: readonly TemplateMessage[]) => readonly MaskedRange[],
  open: (input: RenderInput) => string = () => '<|im_start|>assistant\n',
): CompiledTemplate {
  const trace = (input: RenderInput): Rendering => {
    const messages = input.messages as readonly TemplateMessage[]
    const pieces: RenderedPiece[] = []
    const generation: { start: number; end: number }[] = []
    let text = ''
    let hasGenerationTag = false
    const write = (
      { text: added, line = 1, source = 'template', generated }: MaskedRange,
      index: number | undefined,
    ) => {
      if (added !== '')
        pieces.push({ start: text.length, end: text.length + added.length, line, message: index, source })
      const last = generation.at(-1)
      if (generated && last?.end === text.length) last.end += added.length
      else if (generated) generation.push({ start: text.length, end: text.length + added.length })
      hasGenerationTag ||= generated !== undefined
      text += added
    }
    for (const [index, each] of messages.entries())
      for (const part of message(each, index, messages)) write(part, index)
    if (input.addGenerationPrompt) write({ text: open(input), line: 9 }, undefined)
    return { text, pieces, generation, hasGenerationTag }
  }
  return { text: 'written', trace, render: (input) => trace(input).text }
}

/** ChatML with a block around what the assistant writes, including its end of turn. */
export const generating = writtenTemplate(({ role, content }) => [
  { text: `<|im_start|>${role}\n`, line: 2 },
  { text: String(content), line: 3, source: 'value', ...(role === 'assistant' && { generated: true }) },
  { text: '<|im_end|>', line: 4, ...(role === 'assistant' && { generated: true }) },
  { text: '\n', line: 5 },
])

/** ChatML without a block. */
export const plainChatMl = writtenTemplate(({ role, content }) => [
  { text: `<|im_start|>${role}\n`, line: 2 },
  { text: String(content), line: 3, source: 'value' },
  { text: '<|im_end|>\n', line: 4 },
])

/** ChatML with nothing after the end of a turn, so that differences contain only what the model writes. */
export const tight = writtenTemplate(
  ({ role, content }) => [
    { text: `<|im_start|>${role}\n`, line: 2 },
    { text: String(content), line: 3, source: 'value', ...(role === 'assistant' && { generated: true }) },
    { text: '<|im_end|>', line: 4, ...(role === 'assistant' && { generated: true }) },
  ],
  () => '<|im_start|>assistant\n',
)

/** ChatML that drops the thinking of all replies but the last, as Qwen3 does. */
export const forgetful = writtenTemplate(({ role, content }, index, all) => [
  { text: `<|im_start|>${role}\n`, line: 2 },
  {
    text: index === all.length - 1 ? String(content) : (String(content).split('</think>').at(-1) ?? ''),
    line: 3,
    source: 'value',
  },
  { text: '<|im_end|>\n', line: 4 },
])

/** Refuses a conversation without a user, or with a system message first. */
export const strict = writtenTemplate(({ role, content }, index, all) => {
  if (!all.some((message) => message.role === 'user')) throw new TemplateError('no user query found', { line: 7 })
  if (index === 0 && role === 'system') throw new TemplateError('system role not supported', { line: 8 })
  return [{ text: `[${role}] ${String(content)}\n` }]
})

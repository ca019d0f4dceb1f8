/** What TRL answers about the templates that two packages ship, and every text that it renders to find out. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type CompiledTemplate, TemplateError, type TemplateMessage } from '#lib/templates/chat-template.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { byteTokenizerWith } from '#testing/byte-tokenizer.ts'

export const trlGoldenFile = path.join(import.meta.dirname, '..', 'golden', 'trl.json')

export interface TrlGolden {
  readonly 'made with': string
  /** By package and file. */
  readonly templates: Readonly<Record<string, TrlAnswer>>
}

export interface TrlAnswer {
  /** Of supports_tool_calling; null: it raised. */
  readonly supported: boolean | null
  /** Of is_chat_template_prefix_preserving; null: it was not asked, or raised. */
  readonly preserving: boolean | null
  readonly error: RenderError | null
  /** Added tokens; every other byte is a token. */
  readonly marks: readonly string[]
  /** What transformers renders for every input that TRL asks for, by the key of the input. */
  readonly renders: Readonly<Record<string, string | RenderError>>
}

interface RenderError {
  readonly class: string
  readonly message: string
  readonly line: number | null
}

export const readTrlGolden = (): TrlGolden => JSON.parse(readFileSync(trlGoldenFile, 'utf8'))

export const keyOfInput = (messages: readonly unknown[], addGenerationPrompt: boolean): string =>
  createHash('sha256')
    .update(JSON.stringify([messages, addGenerationPrompt]))
    .digest('hex')
    .slice(0, 12)

/** Marks like `<|im_end|>` are special tokens, tags like `<think>` are plain ones. */
export const markTokenizer = (marks: readonly string[]): Tokenizer =>
  byteTokenizerWith(
    'marks',
    marks.map((content, id) => ({ id, content, special: !/^<\/?[\w:-]{2,}>$/.test(content) })),
    marks.length,
  )

/** A template that knows what TRL renders, and nothing else. */
export function trlTemplate({ renders }: TrlAnswer): CompiledTemplate {
  const render = (messages: readonly (TemplateMessage | object)[], addGenerationPrompt: boolean): string => {
    const found = renders[keyOfInput(messages, addGenerationPrompt)]
    if (found === undefined) throw new Error(`TRL does not render ${JSON.stringify(messages)}`)
    if (typeof found === 'string') return found
    throw new TemplateError(found.message, { className: found.class, line: found.line ?? undefined })
  }
  return {
    text: '',
    render: (input) => render(input.messages, input.addGenerationPrompt),
    trace: (input) => ({
      text: render(input.messages, input.addGenerationPrompt),
      pieces: [],
      generation: [],
      hasGenerationTag: false,
    }),
  }
}

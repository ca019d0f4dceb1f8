/** Answers of TRL about the templates that two packages ship, with every text that TRL renders for them. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type CompiledTemplate, TemplateError, type TemplateMessage } from '#lib/templates/chat-template.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { byteTokenizerWith } from '#testing/byte-tokenizer.ts'

/** Path of the golden file. */
export const trlGoldenFile = path.join(import.meta.dirname, '..', 'golden', 'trl.json')

/** The golden file. */
export interface TrlGolden {
  readonly 'made with': string
  /** Answers by package and file. */
  readonly templates: Readonly<Record<string, TrlAnswer>>
}

/** The answer of TRL about one template. */
export interface TrlAnswer {
  /** Result of supports_tool_calling; null if it raised an error. */
  readonly supported: boolean | null
  /** Result of is_chat_template_prefix_preserving; null if it was not called or raised an error. */
  readonly preserving: boolean | null
  readonly error: RenderError | null
  /** Added tokens; every other byte is a token. */
  readonly marks: readonly string[]
  /** Texts that transformers renders for every input of TRL, by the key of the input. */
  readonly renders: Readonly<Record<string, string | RenderError>>
}

interface RenderError {
  readonly class: string
  readonly message: string
  readonly line: number | null
}

/** Reads the golden file. */
export const readTrlGolden = (): TrlGolden => JSON.parse(readFileSync(trlGoldenFile, 'utf8'))

/** Returns the key of an input in `renders`. */
export const keyOfInput = (messages: readonly unknown[], addGenerationPrompt: boolean): string =>
  createHash('sha256')
    .update(JSON.stringify([messages, addGenerationPrompt]))
    .digest('hex')
    .slice(0, 12)

/** Returns a byte tokenizer with marks: marks like `<|im_end|>` are special tokens, tags like `<think>` are plain ones. */
export const markTokenizer = (marks: readonly string[]): Tokenizer =>
  byteTokenizerWith(
    'marks',
    marks.map((content, id) => ({ id, content, special: !/^<\/?[\w:-]{2,}>$/.test(content) })),
    marks.length,
  )

/** Returns a template that renders only the inputs of TRL and throws for others. */
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

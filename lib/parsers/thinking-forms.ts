/** The think delimiters of model families, each with marks that identify it. */

import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { TextRange } from './parser.ts'
import { anyOf } from './reading/tags.ts'

/** A think delimiter at its position in the text. */
export interface ThinkDelimiter extends TextRange {
  readonly kind: 'open' | 'close'
}

/** A mark of a form at its position: a token of that text, or the text if there are no tokens. */
export interface FoundMark extends TextRange {
  readonly mark: string
}

/** The think delimiters of a model family. */
export interface ThinkForm {
  /** All texts that delimit. In a tokenizer of the family they are added tokens. */
  readonly marks: readonly string[]
  /** Marks that close a think block and nothing else. */
  readonly ends?: readonly string[]
  /** Returns the delimiters that marks of a text form, in order. */
  read(found: readonly FoundMark[], text: string): readonly ThinkDelimiter[]
}

const pair = (open: string, close: string): ThinkForm => ({
  marks: [open, close],
  ends: [close],
  read: (found) => found.map(({ mark, start, end }) => ({ kind: mark === open ? 'open' : 'close', start, end })),
})

/**
 * Matches the name of the channel, with any text after it except a recipient: a message to a tool is a call, not a
 * thought.
 */
const ANALYSIS = /^\s*analysis(?!\s*\S*to=)/
/** Whether a message goes to a tool. The recipient may precede the channel; the prompt ends with the start of the first message. */
const goesToTool = (text: string, before: FoundMark | undefined, channel: number): boolean => {
  if (!before) return /^\s*to=/.test(text.slice(0, channel))
  return before.mark === '<|start|>' && /\sto=/.test(text.slice(before.end, channel))
}

/** gpt-oss thinks in messages of the channel analysis: the header opens, the end of the message closes. */
const harmony: ThinkForm = {
  marks: ['<|channel|>', '<|message|>', '<|end|>', '<|start|>', '<|return|>', '<|call|>'],
  read: (found, text) =>
    found.flatMap(({ mark, start, end }, index): ThinkDelimiter[] => {
      if (mark === '<|channel|>' || mark === '<|message|>') {
        const next = found[index + 1]
        const opens =
          mark === '<|channel|>' &&
          next?.mark === '<|message|>' &&
          ANALYSIS.test(text.slice(end, next.start)) &&
          !goesToTool(text, found[index - 1], start)
        return opens ? [{ kind: 'open', start, end: next.end }] : []
      }
      // The start of the next message is not part of this one.
      return [{ kind: 'close', start, end: mark === '<|start|>' ? start : end }]
    }),
}

const CHANNEL = ['<|channel>', '<channel|>'] as const
/** The name of the channel belongs to its opening, also if the text ends within the name. */
const THOUGHT = /thought\n?|t(?:h(?:o(?:u(?:gh?)?)?)?)?$/y

/** Gemma 4 thinks in the channel "thought". */
const gemma4: ThinkForm = {
  ...pair(...CHANNEL),
  read: (found, text) =>
    pair(...CHANNEL)
      .read(found, text)
      .map((delimiter) => {
        THOUGHT.lastIndex = delimiter.end
        const isNamed = delimiter.kind === 'open' && THOUGHT.test(text)
        return isNamed ? { ...delimiter, end: THOUGHT.lastIndex } : delimiter
      }),
}

const XTML = ['<|open|>', '<|close|>', '<|sep|>'] as const

/** Kimi K3 thinks in the channel "think"; three tokens and the name form a tag. */
const kimiK3: ThinkForm = {
  marks: XTML,
  read: (found, text) =>
    found.flatMap(({ mark, start, end }, index): ThinkDelimiter[] => {
      const next = found[index + 1]
      const isThink = mark !== '<|sep|>' && next?.mark === '<|sep|>' && text.slice(end, next.start) === 'think'
      return isThink ? [{ kind: mark === '<|open|>' ? 'open' : 'close', start, end: next.end }] : []
    }),
}

/** Apertus calls tools while it thinks: such a call ends the block, because otherwise it would be a draft. */
const apertus: ThinkForm = {
  marks: ['<|inner_prefix|>', '<|inner_suffix|>', '<|tools_prefix|>'],
  ends: ['<|inner_suffix|>'],
  read: (found) =>
    found.map(({ mark, start, end }) =>
      mark === '<|tools_prefix|>'
        ? { kind: 'close', start, end: start }
        : { kind: mark === '<|inner_prefix|>' ? 'open' : 'close', start, end },
    ),
}

/** Matches the text before the content of a message to itself. */
const TO_SELF = /^\s*(?:assistant)?\s*to=self\s*$/

/** Muse Glimmer thinks in messages to itself. The prompt ends with the start of the first message. */
const muse: ThinkForm = {
  marks: ['<|start|>', '<|message|>', '<|eom|>', '<|eot|>'],
  read: (found, text) =>
    found.flatMap(({ mark, start, end }, index): ThinkDelimiter[] => {
      if (mark === '<|eom|>' || mark === '<|eot|>') return [{ kind: 'close', start, end }]
      const before = found[index - 1]
      if (mark === '<|start|>' || (before && before.mark !== '<|start|>')) return []
      const isToSelf = TO_SELF.test(text.slice(before?.end ?? 0, start))
      return isToSelf ? [{ kind: 'open', start: before?.start ?? 0, end }] : []
    }),
}

/** Matches the rest of the header of a thinking message, after the name of the role or with it. */
const THINK_HEADER = /(?:assistant)?\/think(?:\n|$)/y

/** HyperCLOVA X thinks in messages of its own. The prompt ends with the name of the role of the first message. */
const hyperclovax: ThinkForm = {
  marks: ['<|im_start|>', '<|im_end|>', '<|stop|>'],
  read(found, text) {
    const opens = (start: number, end: number): ThinkDelimiter[] => {
      THINK_HEADER.lastIndex = end
      return THINK_HEADER.test(text) ? [{ kind: 'open', start, end: THINK_HEADER.lastIndex }] : []
    }
    return [
      ...opens(0, 0),
      ...found.flatMap(({ mark, start, end }): ThinkDelimiter[] =>
        mark === '<|im_start|>' ? opens(start, end) : [{ kind: 'close', start, end }],
      ),
    ]
  },
}

const DEPTHS = ['think', 'think_fast', 'think_faster'] as const

/** K2 Horizon names how deep it thinks. */
const k2Horizon: ThinkForm = {
  marks: DEPTHS.flatMap((depth) => [`<ifm|${depth}>`, `</ifm|${depth}>`]),
  ends: DEPTHS.map((depth) => `</ifm|${depth}>`),
  read: (found) =>
    found.map(({ mark, start, end }) => ({ kind: mark.startsWith('</') ? 'close' : 'open', start, end })),
}

/** All forms. A tokenizer has the first form whose marks it contains. */
export const THINK_FORMS: readonly [ThinkForm, ...ThinkForm[]] = [
  pair('<think>', '</think>'),
  pair('[THINK]', '[/THINK]'),
  pair('◁think▷', '◁/think▷'),
  harmony,
  gemma4,
  kimiK3,
  pair('<|START_THINKING|>', '<|END_THINKING|>'),
  pair('<think:opensource>', '</think:opensource>'),
  pair('<mm:think>', '</mm:think>'),
  pair('<seed:think>', '</seed:think>'),
  pair('<longcat_think>', '</longcat_think>'),
  pair('<|think:start|>', '<|think:end|>'),
  pair('<|thought_start|>', '<|thought_end|>'),
  pair('<|plamo:begin_think:plamo|>', '<|plamo:end_think:plamo|>'),
  k2Horizon,
  apertus,
  muse,
  // Solar Open ends every message with this token.
  { ...pair('<|think|>', '<|end|>'), ends: [] },
  // Inkling ends every message with this token.
  { ...pair('<|content_thinking|>', '<|end_message|>'), ends: [] },
  hyperclovax,
]

/** Tokens that close a think block and nothing else. */
export const THINK_ENDS: readonly string[] = THINK_FORMS.flatMap(({ ends = [] }) => ends)

/** Returns the form of a tokenizer with these added tokens, or undefined. */
export const thinkFormOf = (tokens: ReadonlySet<string>): ThinkForm | undefined =>
  THINK_FORMS.find(({ marks }) => marks.every((mark) => tokens.has(mark)))

/** A reply is read with the marks of every form. */
const anyMark = memoizeByIdentity(anyOf)

/** Returns the marks of a form in a text. */
export function thinkMarksOf({ marks }: ThinkForm, text: string): readonly FoundMark[] {
  return Array.from(text.matchAll(anyMark(marks)), ({ 0: mark, index }) => ({
    mark,
    start: index,
    end: index + mark.length,
  }))
}

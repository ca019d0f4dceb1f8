/** Facts about how a template writes replies, learnt by rendering: thinking, calls and the end of a turn. */

import { endOfTurnId } from '#lib/rollout/prompt/prompt.ts'
import { refusedOption, type TemplateMessage } from '#lib/templates/chat-template.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { comparedTexts, freeNames } from '../document/template-options.ts'
import { type MessageForm, type ScriptCall, type ScriptReply, templateMessages } from './fix/script.ts'
import type { TemplateFacts } from './report.ts'
import { renderedText, type Subject } from './subject.ts'

/** Texts that occur nowhere else. */
const CONTENT = 'MARK-OF-CONTENT'
const THINKING = 'MARK-OF-THINKING'
const ARGUMENT = 'MARK-OF-ARGUMENT'

const QUESTION: TemplateMessage = { role: 'user', content: 'MARK-OF-QUESTION' }
const PLAIN: MessageForm = { thinkingFields: [], thinking: undefined, calls: 'object' }

/** Fields from which templates on the Hub read thinking. */
const THINKING_FIELD = /(?:\.|['"])(reasoning_content|reasoning|thinking)\b/g
const THINK_TAGS: readonly (readonly [string, string])[] = [
  ['<think>', '</think>'],
  ['[THINK]', '[/THINK]'],
  ['<thought>', '</thought>'],
  ['<seed:think>', '</seed:think>'],
]

/** Returns the facts about a template with the options of the subject. */
export function templateFacts(subject: Subject): TemplateFacts {
  const thinking = thinkingOf(subject)
  const takesSystem =
    renderedText(subject, [{ role: 'system', content: 'S' }, QUESTION], true) !== undefined ||
    renderedText(subject, [QUESTION], true) === undefined
  const end = endOfTurnId(subject, subject.options)
  return {
    thinking: thinking.delimiters,
    thinkingFields: thinking.fields,
    endOfTurn: subject.tokenizer.addedTokens.find(({ id }) => id === end)?.content ?? '',
    calls: callForm(subject),
    takesSystem,
    options: optionsRead(subject),
  }
}

/** Returns the form in which messages are given to the template. */
export const messageForm = ({ thinking, thinkingFields, calls }: TemplateFacts): MessageForm => ({
  thinking,
  thinkingFields,
  calls: calls === 'string' ? 'string' : 'object',
})

/** How a template treats thinking with one set of options. */
export interface ThinkingState {
  /** Text that the model writes around its thinking, after the generation prompt; undefined if thinking is unknown. */
  readonly delimiters: { readonly open: string; readonly close: string } | undefined
  readonly fields: readonly string[]
  /** What the generation prompt does: it opens a think block, writes a closed one, or leaves the block to the model. */
  readonly prompt: 'opens' | 'closes' | 'leaves'
  /** Delimiters without whitespace, wherever they are written; undefined if none are known. */
  readonly tags: { readonly open: string; readonly close: string } | undefined
}

/** Returns how the template treats thinking with the options of the subject. */
export function thinkingOf(subject: Subject): ThinkingState {
  const source = subject.template.text
  const prompt = renderedText(subject, [QUESTION], true) ?? ''
  const behind = prompt.slice(prompt.lastIndexOf('MARK-OF-QUESTION'))
  const fields = [...new Set([...source.matchAll(THINKING_FIELD)].map(([, field]) => field as string))]
  const thinkingFields = Object.fromEntries(fields.map((field) => [field, THINKING]))
  const text =
    renderedText(subject, [QUESTION, { role: 'assistant', content: CONTENT, ...thinkingFields }], false) ?? ''
  const at = text.indexOf(THINKING)
  const content = text.indexOf(CONTENT, at)
  const known = THINK_TAGS.find((tags) => tags.some((tag) => source.includes(tag) || behind.includes(tag)))
  if (fields.length > 0 && at >= 0 && content > at) {
    const close = text.slice(at + THINKING.length, content)
    const shared = commonTags(prompt, text)
    // The template writes this text before the thinking, from the header on.
    const written = text.slice(shared, at)
    const open = known?.[0] ?? (written.trim() || lastTag(prompt))
    const tags = { open, close: firstTag(close.trim()) }
    if (prompt.length === shared) {
      return { delimiters: { open: written, close }, fields, tags, prompt: written === '' ? 'opens' : 'leaves' }
    }
    if (closes(behind, tags)) return { delimiters: undefined, fields, tags, prompt: 'closes' }
    return { delimiters: { open: `${open}\n`, close }, fields, tags, prompt: 'leaves' }
  }
  if (!known) return { delimiters: undefined, fields: [], tags: undefined, prompt: 'leaves' }
  const [open, close] = known
  const tags = { open, close }
  const trimmed = behind.trimEnd()
  if (trimmed.endsWith(close)) return { delimiters: undefined, fields: [], tags, prompt: 'closes' }
  if (trimmed.endsWith(open))
    return { delimiters: { open: '', close: `\n${close}\n\n` }, fields: [], tags, prompt: 'opens' }
  return { delimiters: { open: `${open}\n`, close: `\n${close}\n\n` }, fields: [], tags, prompt: 'leaves' }
}

/**
 * Whether the generation prompt ends with the delimiter that closes thinking. GLM 4.7 and Laguna write only this delimiter, without an
 * empty block.
 */
const closes = (prompt: string, { open, close }: { readonly open: string; readonly close: string }): boolean =>
  close !== '' &&
  (prompt.trimEnd().endsWith(close) || (prompt.includes(open) && prompt.split(open).at(-1)?.includes(close) === true))

/**
 * Returns the length of the common beginning of two texts that cuts no tag in two: `<mm:think>` and `</mm:think>` share their first
 * character.
 */
export function commonTags(a: string, b: string): number {
  const shared = commonText(a, b)
  const open = a.slice(0, shared).search(/<[^<>\s]*$/)
  return open >= 0 && shared < Math.min(a.length, b.length) ? open : shared
}

/**
 * Returns the first tag of a text. A format with channels writes several tags between thinking and content; the first one closes the
 * thinking.
 */
export const firstTag = (text: string): string => /^<[^<>\s]+>/.exec(text)?.[0] ?? text

const lastTag = (prompt: string): string => /<[^<>\s]+>$/.exec(prompt.trimEnd())?.[0] ?? ''

function callForm(subject: Subject): TemplateFacts['calls'] {
  const call: ScriptCall = { id: 'call00001', name: 'f', arguments: `{"x": "${ARGUMENT}"}` }
  const reply: ScriptReply = { role: 'assistant', thinking: undefined, content: '', calls: [call] }
  const tries = (['object', 'string'] as const).map((calls) => {
    const messages = [QUESTION, ...templateMessages([reply], { ...PLAIN, calls })]
    return { calls, text: renderedText(subject, messages, false) }
  })
  const printing = tries.find(({ text }) => text?.includes(ARGUMENT))
  if (printing) return printing.calls
  return tries.some(({ text }) => text !== undefined) ? 'dropped' : 'refused'
}

/** Most names that are tried: a template that reads more of them is not a chat template. */
const MOST_OPTIONS = 24

/** Most texts that are tried for one option. */
const MOST_TEXTS = 6

/**
 * Returns the options that change what the template writes: names that it reads, with true, false and the texts with which it compares
 * them. A switch for thinking is tried with both values, although one of them is the default.
 */
function optionsRead(subject: Subject): TemplateFacts['options'] {
  const { text } = subject.template
  const probe = (options: Readonly<Record<string, unknown>>): string =>
    [true, false]
      .map((prompt) => renderedText({ ...subject, options: { ...subject.options, ...options } }, PROBE, prompt) ?? '')
      .join('\u0000')
  const [accepted, refused] = [probe({}), '\u0000']
  return freeNames(text)
    .filter((name) => refusedOption(name, 'run') === undefined)
    .slice(0, MOST_OPTIONS)
    .flatMap((name): TemplateFacts['options'] => {
      const changes = (value: boolean | string) => ![accepted, refused].includes(probe({ [name]: value }))
      const texts = comparedTexts(text, name).slice(0, MOST_TEXTS)
      if (texts.length > 0) {
        const values = texts.filter(changes)
        return values.length > 0 ? [{ name, values }] : []
      }
      const values = [true, false].filter(changes)
      if (values.length === 0) return []
      return [{ name, values: /think/.test(name) ? [true, false] : values }]
    })
}

const PROBE: readonly TemplateMessage[] = templateMessages(
  [
    { role: 'user', content: 'a' },
    { role: 'assistant', thinking: 'b', content: 'c', calls: [] },
    { role: 'user', content: 'd' },
    { role: 'assistant', thinking: 'e', content: 'f', calls: [] },
  ],
  { ...PLAIN, thinkingFields: ['reasoning_content', 'reasoning'] },
)

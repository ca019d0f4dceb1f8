/**
 * Computes the template's text after a reply. A conversation of one question, a stand-in for the reply and the new messages
 * is rendered and cut at the end of the reply. Templates read the calls of the reply when they print results (gpt-oss and
 * MiniMax-M2 refuse a result without a call, Gemma 4 leaves it out), so the stand-in has the calls of the real reply.
 */

import {
  type ChatTemplate,
  type RenderInput,
  TemplateError,
  type TemplateMessage,
} from '#lib/templates/chat-template.ts'
import { createMemory } from '#lib/util/bounded-memory.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'

/** The properties of a reply that decide what follows it. */
export interface ReplyEnd {
  /** The calls of the whole reply, in order. */
  readonly calls: readonly ReplyCall[]
  /** The text of its last token, if that is an added token. */
  readonly lastToken: string | undefined
  /** Texts of the added tokens directly before that, the last one first. */
  readonly tokensBefore: readonly string[]
  /** The end of the text of all its tokens. */
  readonly text: string
}

/** A call of a reply, in the form that a render of the stand-in needs. */
export interface ReplyCall {
  readonly id: string
  readonly name: string
  /** The arguments as an object, plain or as the engine reads JSON. */
  readonly input: unknown
  /** The arguments as JSON text; omitted: as JSON.stringify writes them. */
  readonly json?: string
}

/** The form in which a template accepts the arguments of a call. */
export type ArgumentsForm = 'object' | 'string'

/** The text that a template writes after a reply. */
export interface Continuation {
  /** The text after the reply. It begins with the last token of the reply if the template writes that token too. */
  readonly text: string
  /** The template's text from the name of the last call, or from the end of the content of a reply without calls. */
  readonly written: string
  /** The length of the calls in `written`; 0 if it begins after the content. */
  readonly callLength: number
  readonly argumentsForm: ArgumentsForm
}

type Options = RenderInput['options']

/** The variables of a template besides the messages. */
type Settings = Pick<RenderInput, 'tools' | 'options'>

/** Returns a call in the form for templates. */
export const templateCall = ({ id, name, input, json }: ReplyCall, form: ArgumentsForm): unknown => ({
  id,
  type: 'function',
  function: { name, arguments: form === 'object' ? input : (json ?? JSON.stringify(input)) },
})

/**
 * Returns the continuation of a reply by new messages. Throws TemplateError, also if a template prints a tool result
 * nowhere: a model that does not see its results only repeats its calls.
 */
export function continuationOf(
  template: ChatTemplate,
  end: ReplyEnd,
  added: readonly TemplateMessage[],
  settings: Settings,
): Continuation {
  const behindCalls = end.calls.length > 0 ? continueAfterCalls(template, end, added, settings) : undefined
  if (behindCalls && !(behindCalls instanceof TemplateError)) return behindCalls
  try {
    return continueAfterContent(template, end, added, settings.options)
  } catch (error) {
    throw error instanceof TemplateError ? (behindCalls ?? error) : error
  }
}

/** The template's text around the content of a reply. */
export interface PlainTurn {
  /** The text up to the content, and the part of it up to the content of the question before. */
  readonly before: string
  readonly beforeQuestion: string
  /** The text after it if the conversation ends there: the end of the turn, and the separator of the next turn. */
  readonly after: string
  /** The text between it and the content of a further question: the same text, and the header of the question's turn. */
  readonly between: string
}

const CONTENT = 'PLACEHOLDER-REPLY'
const FURTHER_QUESTION = 'PLACEHOLDER-FURTHER-QUESTION'
const BETWEEN = new RegExp(`.*${CONTENT}(.*?)${FURTHER_QUESTION}`, 's')
const QUESTION: TemplateMessage = { role: 'user', content: 'PLACEHOLDER-QUESTION' }

/** Returns the turn; undefined if the template refuses the conversation, or does not print the reply. */
export function plainTurn(template: ChatTemplate, options: Options): PlainTurn | undefined {
  const known = plainTurns(template)
  const key = JSON.stringify(options)
  const found = known.get(key)
  if (found) return found.turn
  const turn = renderPlainTurn(template, options)
  known.set(key, { turn }, key.length + (turn ? turn.before.length + turn.after.length + turn.between.length : 0))
  return turn
}

/** The largest number of cached characters of a template's texts, over all sets of options. */
const MOST_KEPT = 1_000_000

/** Caches turns by the options, because they are the same in every turn. */
const plainTurns = memoizeByIdentity((_: ChatTemplate) =>
  createMemory<{ readonly turn: PlainTurn | undefined }>(MOST_KEPT),
)

function renderPlainTurn(template: ChatTemplate, options: Options): PlainTurn | undefined {
  const reply: TemplateMessage = { role: 'assistant', content: CONTENT }
  const render = (tools: RenderInput['tools'], further: readonly TemplateMessage[]) =>
    renderOrRefusal(() =>
      template.render({ messages: [QUESTION, reply, ...further], tools, addGenerationPrompt: false, options }),
    )
  const tools = NO_TOOLS.find((none) => typeof render(none, []) === 'string')
  const text = render(tools, [])
  if (text instanceof TemplateError) return undefined
  const at = text.lastIndexOf(CONTENT)
  if (at < 0) return undefined
  const longer = render(tools, [{ role: 'user', content: FURTHER_QUESTION }])
  const [, between = ''] = longer instanceof TemplateError ? [] : (BETWEEN.exec(longer) ?? [])
  const before = text.slice(0, at)
  const question = before.indexOf(QUESTION.content as string)
  return {
    before,
    beforeQuestion: before.slice(0, Math.max(0, question)),
    after: text.slice(at + CONTENT.length),
    between,
  }
}

/** Returns a refusal as a value, since other forms of the messages may be tried. */
export function renderOrRefusal(render: () => string): string | TemplateError {
  try {
    return render()
  } catch (error) {
    if (error instanceof TemplateError) return error
    throw error
  }
}

/** Renders the stand-in of a reply between a question and new messages. */
type Render = (reply: TemplateMessage, added: readonly TemplateMessage[]) => string | TemplateError

/**
 * The first prompt has the tools. A template that iterates the list of tools without checking for it (Hermes 3) gets an empty
 * list.
 */
const NO_TOOLS = [undefined, []] as const

const rendersOf = (
  template: ChatTemplate,
  options: Options,
  choices: readonly RenderInput['tools'][],
): readonly Render[] =>
  choices.map(
    (tools) => (reply, added) =>
      renderOrRefusal(() =>
        template.render({
          messages: [QUESTION, reply, ...added],
          tools,
          addGenerationPrompt: added.length > 0,
          options,
        }),
      ),
  )

/** A way to render a reply with calls. */
interface CallRender {
  readonly render: Render
  readonly argumentsForm: ArgumentsForm
}

const callRendersOf = (renders: readonly Render[]): readonly CallRender[] =>
  renders.flatMap((render) => (['object', 'string'] as const).map((argumentsForm) => ({ render, argumentsForm })))

/**
 * Computes the continuation with a stand-in of the real calls. Undefined if the end of the calls is uncertain. Falcon's templates
 * print calls only if the conversation has tools, so these are given if the calls or the results are printed nowhere without them.
 */
function continueAfterCalls(
  template: ChatTemplate,
  end: ReplyEnd,
  added: readonly TemplateMessage[],
  { tools, options }: Settings,
): Continuation | TemplateError | undefined {
  const seen = shapesSeen(template)
  const shape = JSON.stringify([options, end.calls.length, added.map(({ role }) => role)])
  const known = seen.get(shape)
  const plain = known && plainTurn(template, options)
  const quick = known && cutByContent(known, end, added, plain)
  if (quick) return quick
  let refusal: TemplateError | undefined
  let isUncertain = false
  for (const choices of [NO_TOOLS, tools?.length ? [tools] : []])
    for (const one of callRendersOf(rendersOf(template, options, choices))) {
      const found = cutByMarks(one, end, added, () => plainTurn(template, options))
      if (found instanceof TemplateError) {
        refusal ??= found
        continue
      }
      if (found && choices === NO_TOOLS) seen.set(shape, one, shape.length)
      if (found) return found
      isUncertain = true
      break
    }
  return isUncertain ? undefined : refusal
}

/**
 * Caches the render with which a template printed all results, by the options, the number of calls and the roles of the
 * messages. Whether results are printed does not depend on their content, and rendering marks in every turn takes a quarter
 * of its time.
 */
const shapesSeen = memoizeByIdentity((_: ChatTemplate) => createMemory<CallRender>(MOST_KEPT))

/** Returns the stand-in of a reply. It has no content, because Gemma 4 writes the content after the results. */
const standIn = ({ calls }: ReplyEnd, { argumentsForm }: CallRender): TemplateMessage => ({
  role: 'assistant',
  content: '',
  tool_calls: calls.map((call) => templateCall(call, argumentsForm)),
})

/** Cuts at the content of the first message; undefined if its position is uncertain. */
function cutByContent(
  one: CallRender,
  end: ReplyEnd,
  added: readonly TemplateMessage[],
  plain: PlainTurn | undefined,
): Continuation | undefined {
  const content = added[0]?.content
  if (typeof content !== 'string' || content === '' || JSON.stringify(end.calls).includes(content)) return undefined
  const reply = standIn(end, one)
  const text = one.render(reply, added)
  if (text instanceof TemplateError) return undefined
  const place = text.indexOf(content)
  if (place < 0 || text.includes(content, place + 1)) return undefined
  const cut = endOfCalls(text, place, end, plain, () => one.render(reply, []))
  return cut && cutAt(text, cut, one)
}

/** Cuts at marks that replace the contents of the new messages; undefined if one of them is not printed. */
function cutByMarks(
  one: CallRender,
  end: ReplyEnd,
  added: readonly TemplateMessage[],
  plainTurnOf: () => PlainTurn | undefined,
): Continuation | TemplateError | undefined {
  const { marked, marks } = withMarks(added)
  const reply = standIn(end, one)
  const marking = one.render(reply, marked)
  const text = marking instanceof TemplateError ? marking : one.render(reply, added)
  if (marking instanceof TemplateError || text instanceof TemplateError) return text as TemplateError
  const first = marking.indexOf(marks[0] ?? CONTENT)
  const cut = endOfCalls(marking, first, end, plainTurnOf(), () => one.render(reply, []))
  const isSure =
    cut && marks.every((mark) => marking.includes(mark, cut.cut)) && text.startsWith(marking.slice(0, cut.cut))
  return isSure ? cutAt(text, cut, one) : undefined
}

const cutAt = (text: string, { cut, named }: Cut, { argumentsForm }: CallRender): Continuation => ({
  text: text.slice(cut),
  written: text.slice(named),
  callLength: cut - named,
  argumentsForm,
})

interface Cut {
  /** Offset at which the reply ends. */
  readonly cut: number
  /** Offset of the name of its last call. */
  readonly named: number
}

/** Returns the end of a reply with calls in a text whose new messages begin at `first`; undefined if uncertain. */
function endOfCalls(
  shown: string,
  first: number,
  end: ReplyEnd,
  plain: PlainTurn | undefined,
  renderAlone: () => string | TemplateError,
): Cut | undefined {
  const { id, name } = end.calls.at(-1) as ReplyCall
  const start = Math.max(shown.indexOf(QUESTION.content as string), plain ? commonText(plain.before, shown) : 0)
  const turn = shown.slice(start, Math.max(start, first))
  // Kimi-K2 prints the id, which contains the name if the model wrote the id.
  const printed = turn.includes(name) ? name : id
  const earliest = turn.indexOf(printed)
  if (earliest < 0) return undefined
  const length = lengthOfReply(turn, earliest, end, plain) ?? lengthOfWhole(renderAlone(), shown.slice(0, first), start)
  if (length === undefined) return undefined
  return { cut: start + length, named: start + turn.slice(0, length).lastIndexOf(printed) }
}

/**
 * Returns how many characters of a turn with calls belong to the reply: up to its last token, or up to the text that closes a
 * turn without calls. `name` is the earliest offset of a call in the turn.
 */
function lengthOfReply(
  turn: string,
  name: number,
  { lastToken, tokensBefore }: ReplyEnd,
  plain: PlainTurn | undefined,
): number | undefined {
  const at = lastToken === undefined ? -1 : turn.lastIndexOf(lastToken)
  if (at >= name) return at
  for (const token of tokensBefore) {
    const before = turn.lastIndexOf(token)
    if (before >= name) return before + token.length
  }
  const close = plain && plain.after.trim() !== '' ? turn.lastIndexOf(plain.after.trimEnd()) : -1
  return close >= name ? close : undefined
}

/** Returns the length of a turn that the template writes as a whole, directly followed by the messages. */
const lengthOfWhole = (whole: string | TemplateError, visibleText: string, start: number): number | undefined =>
  typeof whole === 'string' && whole.length > start && visibleText.startsWith(whole) ? whole.length - start : undefined

/** Computes the continuation with a stand-in that is a text. Throws TemplateError. */
function continueAfterContent(
  template: ChatTemplate,
  end: ReplyEnd,
  added: readonly TemplateMessage[],
  options: Options,
): Continuation {
  const content = freeText(CONTENT, added)
  const reply: TemplateMessage = { role: 'assistant', content }
  const { marked, marks } = withMarks(added)
  const results = marks.filter((_, index) => added[index]?.role === 'tool')
  let refusal: TemplateError | undefined
  for (const render of rendersOf(template, options, NO_TOOLS)) {
    const text = render(reply, added)
    const marking = text instanceof TemplateError || results.length === 0 ? text : render(reply, marked)
    if (text instanceof TemplateError || marking instanceof TemplateError) {
      refusal ??= marking as TemplateError
      continue
    }
    const at = text.indexOf(content)
    if (at < 0)
      throw new TemplateError(
        'the template does not print the content of an assistant message, so no turn can be continued',
      )
    if (text.includes(content, at + 1))
      throw new TemplateError('the template prints an assistant message twice, so no turn can be continued')
    if (!results.every((mark) => marking.includes(mark)))
      throw new TemplateError(
        'the template does not print tool results, so the model would not see the results of its calls',
      )
    const written = text.slice(at + content.length)
    const cut = closedLength(written, end, plainTurn(template, options))
    return { text: written.slice(cut), written, callLength: 0, argumentsForm: 'object' }
  }
  throw refusal as TemplateError
}

/**
 * Returns how many characters of the end of a turn the reply has before its last token, if the template closes turns with
 * several tokens.
 */
function closedLength(written: string, { lastToken: last, text }: ReplyEnd, plain: PlainTurn | undefined): number {
  if (last === undefined || !plain || written.startsWith(last)) return 0
  // Command R7B always begins another reply, so only text that it also writes before new messages closes this one.
  const close = plain.after.slice(0, commonText(plain.after, written))
  const places: number[] = []
  for (let at = close.indexOf(last); at >= 0; at = close.indexOf(last, at + 1)) places.push(at)
  return places.findLast((at) => text.endsWith(plain.after.slice(0, at + last.length))) ?? places.at(-1) ?? 0
}

/**
 * Returns the messages with a mark in place of each content. A mark is printed unchanged by templates that escape or trim
 * contents.
 */
function withMarks(added: readonly TemplateMessage[]): {
  readonly marked: readonly TemplateMessage[]
  readonly marks: readonly string[]
} {
  const marks = added.map((_, index) => `PLACEHOLDER-MESSAGE-${index}-`)
  return { marked: added.map((message, index) => ({ ...message, content: marks[index] })), marks }
}

/** Returns a text that occurs in none of the messages, so that the position after it is certain. */
function freeText(text: string, messages: readonly TemplateMessage[]): string {
  const holdsIt = (value: unknown): boolean =>
    (typeof value === 'string' ? value : JSON.stringify([value])).includes(free)
  let free = text
  while (messages.some((message) => Object.values(message).some(holdsIt))) free += '-X'
  return free
}

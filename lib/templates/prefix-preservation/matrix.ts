/** The cells of the matrix: every boundary with every kind of thinking, every option, and with or without content next to calls. */
import { commonText } from '#lib/util/common-prefix.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { contentsOf, scriptedTurn } from './boundary.ts'
import { type DifferenceCase, lastOffsetOf, messagePartsOf } from './cause.ts'
import { compareTurn, type ScriptComparison } from './compare.ts'
import { type ThinkingState, thinkingOf } from './facts.ts'
import { describeBreak } from './finding.ts'
import { messagesJson, type ScriptMessage, templateMessages } from './fix/script.ts'
import { trainedForm, type WrittenReplyText, writingOf } from './fix/writing.ts'
import {
  BOUNDARY_NAMES,
  type Cell,
  type OptionChange,
  type RecipeProof,
  type TemplateFacts,
  type TemplateVerdict,
  THINKING_NAMES,
} from './report.ts'
import { renderedText, type Subject } from './subject.ts'

/** A cell that checks a scripted conversation. */
export type ScriptCell = Cell & { readonly place: Extract<Cell['place'], { kind: 'script' }> }

/** A checked cell, with what the recipe and fixes read from the check. */
export interface CheckedCell {
  readonly cell: ScriptCell
  /** Proof of the recipe; undefined if nothing is appended. */
  readonly proof: RecipeProof | undefined
  /** Contents and thinking of the history that turn n prints. */
  readonly printed: readonly string[]
  /** Texts of both sides, as a key for equal renders; undefined if nothing was compared. */
  readonly render: string | undefined
  /** Text that the recipe appends; undefined if it cannot append anything. */
  readonly appended: string | undefined
}

/**
 * Settings of a matrix. `trained` is the template whose replies the model writes: a changed template is checked with the replies of the
 * original.
 */
export interface MatrixSettings {
  readonly trained: Subject
  readonly facts: TemplateFacts
  readonly toolName: string
}

/** Returns the places of all cells row by row: by options, then by thinking; columns are boundaries. */
export function placesOf(facts: TemplateFacts, subject: Subject): readonly ScriptCell['place'][] {
  return optionSets(facts, subject).flatMap((options) =>
    THINKING_NAMES.flatMap((thinking) =>
      BOUNDARY_NAMES.flatMap((boundary) =>
        contentsOf(boundary).map((content) => ({ kind: 'script', boundary, content, thinking, options }) as const),
      ),
    ),
  )
}

/** Returns the sets of options: as given, then each option with each value and without it, unless it is given so already. */
export function optionSets(facts: TemplateFacts, { options }: Subject): readonly OptionChange[] {
  const sets = facts.options.flatMap(({ name, values }): OptionChange[] => [
    ...(options[name] === undefined ? [] : [{ [name]: null }]),
    ...values.filter((value) => options[name] !== value).map((value) => ({ [name]: value })),
  ])
  return [{}, ...sets]
}

/** Returns the subject with changed options; null removes an option. */
export function withOptions(subject: Subject, change: OptionChange): Subject {
  const options = Object.entries({ ...subject.options, ...change }).filter(([, value]) => value !== null)
  return { ...subject, options: Object.fromEntries(options) }
}

/** Returns the subject for a place. A conversation that ends with its reply has no tools, because all other boundaries have them. */
export function subjectForCell(subject: Subject, { boundary, options }: ScriptCell['place']): Subject {
  const changed = withOptions(subject, options)
  return boundary === 'end' ? { ...changed, tools: undefined } : changed
}

/** Returns the id of a cell, such as `tool/with/on/enable_thinking=true`. */
export function cellId({ boundary, content, thinking, options }: ScriptCell['place']): string {
  const optionTexts = Object.entries(options).map(([name, value]) => `${name}=${value ?? 'absent'}`)
  return [boundary, content, thinking, ...optionTexts].join('/')
}

/** Checks one cell. Throws RenderBudgetExceeded if a render exceeds its budget. */
export function checkedCell(place: ScriptCell['place'], given: Subject, settings: MatrixSettings): CheckedCell {
  const { facts, toolName } = settings
  const id = cellId(place)
  const subject = subjectForCell(given, place)
  const trained = subjectForCell(settings.trained, place)
  const state = stateAt(place, trained, settings)
  const turn = scriptedTurn({ ...place, takesSystem: facts.takesSystem, toolName })
  const skipped = whyNot(place, state, facts)
  const only = (verdict: TemplateVerdict): CheckedCell => ({
    cell: { id, place, verdict },
    proof: undefined,
    printed: [],
    render: undefined,
    appended: undefined,
  })
  if (skipped !== undefined) return only({ kind: 'notApplicable', why: skipped })
  const replies = { subject: trained, facts, delimiters: state.delimiters }
  const writing = writings(settings).get(id) ?? writingOf(turn, replies)
  writings(settings).set(id, writing)
  const compared = compareTurn(turn, subject, replies, writing)
  if (compared.kind === 'unknown-reply') return only({ kind: 'notApplicable', why: UNKNOWN_REPLY })
  if (compared.kind === 'refused')
    return only({ kind: 'notApplicable', why: `The template raises an error: ${compared.error.message}` })
  if (compared.kind === 'failed') return only({ kind: 'error', failure: compared.error })
  const { comparison } = compared
  const messages = [...turn.history, turn.reply, ...turn.added]
  const problem: DifferenceCase = {
    comparison,
    messages: messages.map(messagePartsOf),
    replyIndex: turn.history.length,
    tags: state.tags,
    endOfTurn: facts.endOfTurn,
    addedTokens: subject.tokenizer.addedTokens,
  }
  const form = trainedForm(replies)
  const finding = describeBreak(problem, subject.tokenizer, () => messagesJson(messages, form))
  return {
    cell: {
      id,
      place,
      verdict: finding ? { kind: 'unstable', finding } : { kind: 'stable', tokens: comparison.rendered.ids.length },
    },
    proof: turn.added.length > 0 ? { cell: id, result: proofOf(comparison, turn.history.length) } : undefined,
    printed: turn.history
      .flatMap((message) => [
        message.content,
        ...(message.role === 'assistant' && message.thinking ? [message.thinking] : []),
      ])
      .filter((text) => comparison.before?.text.includes(text)),
    render: JSON.stringify([comparison.before?.text, comparison.expected.text, comparison.rendered.text]),
    appended: comparison.appended.ok ? comparison.appended.text : undefined,
  }
}

/** Returns whether the appended text equals the text that the whole conversation has after the reply. */
function proofOf({ appended, expected, rendered }: ScriptComparison, replyIndex: number): RecipeProof['result'] {
  if (!appended.ok) return { kind: 'failed', failure: appended.error }
  const regions = expected.regions()
  const at = regions.findIndex(({ kind }) => kind === 'end')
  const [start, end] = [at - 1, at].map((index) => regions[index]?.end ?? 0) as [number, number]
  const tail = expected.text.slice(start)
  if (rendered.text.endsWith(tail)) return { kind: 'held' }
  const last = lastOffsetOf(rendered.rendering, replyIndex)
  const endOfTurn = expected.text.slice(start, end)
  const close = endOfTurn === '' ? last : rendered.text.lastIndexOf(endOfTurn, last)
  const whole = rendered.text.slice(close < 0 ? last : close)
  return { kind: 'broken', at: commonText(tail, whole), appended: tail, whole }
}

/** Returns how thinking is treated with the options of the place: the same for all cells of a row, and for every change that is tried. */
function stateAt(
  { boundary, options }: ScriptCell['place'],
  trained: Subject,
  settings: MatrixSettings,
): ThinkingState {
  const key = JSON.stringify([boundary === 'end', options])
  const state = states(settings).get(key) ?? thinkingOf(trained)
  states(settings).set(key, state)
  return state
}
const states = memoizeByIdentity((_: MatrixSettings) => new Map<string, ThinkingState>())

/** Replies by the id of the cell: changes to a template are tried by the hundred, and the replies remain the same. */
const writings = memoizeByIdentity((_: MatrixSettings) => new Map<string, WrittenReplyText>())

const UNKNOWN_REPLY =
  'The model’s text is unknown here: the template never writes this reply after its generation prompt, and a reply built from its parts does not render again.'

/**
 * Returns what the model was trained on: how conversations begin, with every option, with and without tools, and how its replies are
 * written after the last question. A change to the template must leave it unchanged.
 */
export function trainedTexts(subject: Subject, facts: TemplateFacts): string {
  const messages: readonly ScriptMessage[] = [
    ...(facts.takesSystem ? [{ role: 'system', content: 'You know the weather.' } as const] : []),
    { role: 'user', content: 'Hello' },
  ]
  const prompts = optionSets(facts, subject).flatMap((options) =>
    [subject.tools, undefined].map((tools) =>
      renderedText(
        { ...withOptions(subject, options), tools },
        templateMessages(messages, trainedForm({ facts, delimiters: undefined })),
        true,
      ),
    ),
  )
  const { delimiters } = thinkingOf(subject)
  const writings = (['tool', 'parallel'] as const).flatMap((boundary) =>
    contentsOf(boundary).map((content) => {
      const turn = scriptedTurn({ boundary, content, thinking: 'off', takesSystem: facts.takesSystem, toolName: 'f' })
      const { parts, end } = writingOf({ ...turn, history: messages }, { subject, facts, delimiters })
      return [parts.map(({ text }) => text).join(''), end]
    }),
  )
  return JSON.stringify([facts, delimiters, prompts, writings])
}

/** Returns why a cell does not apply to this template; undefined if it applies. */
function whyNot(
  { boundary, thinking }: ScriptCell['place'],
  { prompt, tags }: ThinkingState,
  { takesSystem }: TemplateFacts,
): string | undefined {
  if (thinking === 'off' && prompt === 'opens')
    return 'The generation prompt opens a think block: with these options the model always thinks.'
  if (thinking !== 'off' && prompt === 'closes')
    return 'The generation prompt closes the think block: with these options the model does not think.'
  if (thinking !== 'off' && !tags) return 'The template does not render thinking.'
  if (boundary === 'system' && !takesSystem) return 'The template does not accept system messages.'
  return undefined
}

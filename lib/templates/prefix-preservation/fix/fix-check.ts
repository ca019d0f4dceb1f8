/** Checks what a fix does beyond the matrix: to generated conversations, and to how plain replies are written. */
import * as fc from 'fast-check'
import type { TemplateMessage } from '#lib/templates/chat-template.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { contentsOf, scriptedTurn } from '../boundary.ts'
import { compareTurn, type TurnComparison } from '../compare.ts'
import { plainPlans, plans, turnOf } from '../conversations.ts'
import { messageForm, thinkingOf } from '../facts.ts'
import { type MatrixSettings, optionSets, withOptions } from '../matrix.ts'
import type { FixCost, FixSearch, OptionChange, TemplateFacts } from '../report.ts'
import { renderedText, type Subject } from '../subject.ts'
import { templateMessages } from './script.ts'
import { type WrittenReplyText, writingOf } from './writing.ts'

/** Generated conversations for each set of options: half of them of plain words, half of whitespace, marks and Unicode. */
const CONVERSATIONS = 240
/** Conversations between two pauses. */
const PAUSE = 20
const SEED = 1

type Outcome = 'stable' | 'unstable' | 'raises'

/** Checks changes to one template. */
export interface FixChecker {
  /** Whether last replies that begin with the prompt are written as before, because the model is trained to write them so. */
  readonly keepsReplies: (changed: Subject) => boolean
  /**
   * Returns the counts; undefined if a conversation that was stable no longer is, or one that rendered raises an error. Yields between
   * conversations.
   */
  readonly search: (changed: Subject) => Generator<void, FixSearch | undefined>
  /** Returns what the fix changes in conversations without tools and thinking. */
  readonly costs: (changed: Subject) => readonly FixCost[]
}

/** Returns the checks. `options` are those of the cell to cure. The unchanged template is rendered once for all fixes. */
export function fixChecker(subject: Subject, settings: MatrixSettings, options: OptionChange): FixChecker {
  const sets = Object.keys(options).length === 0 ? [{}] : [{}, options]
  const samples = [plainPlans, plans].flatMap((each) => fc.sample(each, { seed: SEED, numRuns: CONVERSATIONS / 2 }))
  const cases = sets.flatMap((set) => {
    const trained = withOptions(subject, set)
    const state = thinkingOf(trained)
    const replies = { subject: trained, facts: settings.facts, delimiters: state.delimiters }
    return samples.map((plan) => ({
      turn: turnOf(plan, { facts: settings.facts, state, toolName: settings.toolName }),
      set,
      replies,
    }))
  })
  const before: Outcome[] = []
  const writings: WrittenReplyText[] = []
  let written: readonly WrittenReply[] | undefined
  const outcome = ({ turn, set, replies }: (typeof cases)[number], tried: Subject, index: number): Outcome => {
    writings[index] ??= writingOf(turn, replies)
    return outcomeOf(compareTurn(turn, withOptions(tried, set), replies, writings[index]))
  }
  return {
    search: function* (changed) {
      let [brokenBefore, brokenAfter] = [0, 0]
      for (const [index, each] of cases.entries()) {
        before[index] ??= outcome(each, subject, index)
        const after = outcome(each, changed, index)
        if (before[index] !== after && (before[index] === 'stable' || after === 'raises')) return undefined
        if (before[index] === 'unstable') brokenBefore++
        if (after === 'unstable') brokenAfter++
        if (index % PAUSE === PAUSE - 1) yield
      }
      return { conversations: cases.length, brokenBefore, brokenAfter }
    },
    keepsReplies: (changed) => {
      written ??= writtenReplies(subject, settings)
      return written.every(
        ({ tried, messages, text }) => renderedText({ ...tried, template: changed.template }, messages, false) === text,
      )
    },
    costs: (changed) => costsOf(subject, changed, settings.facts),
  }
}

/** Returns the outcome. A conversation without a verdict is no better than one that breaks. */
function outcomeOf(compared: TurnComparison): Outcome {
  if (compared.kind === 'unknown-reply') return 'unstable'
  if (compared.kind !== 'compared') return 'raises'
  return compared.comparison.tokenIndex === undefined ? 'stable' : 'unstable'
}

interface WrittenReply {
  readonly tried: Subject
  readonly messages: readonly TemplateMessage[]
  readonly text: string
}

function writtenReplies(subject: Subject, { facts, toolName }: MatrixSettings): readonly WrittenReply[] {
  const replies = (['on', 'off'] as const).flatMap((thinking) =>
    (['end', 'tool', 'parallel'] as const).flatMap((boundary) =>
      contentsOf(boundary).map(
        (content) => scriptedTurn({ boundary, content, thinking, takesSystem: facts.takesSystem, toolName }).reply,
      ),
    ),
  )
  return optionSets(facts, subject).flatMap((options) => {
    const tried = withOptions(subject, options)
    const form = { ...messageForm(facts), thinking: thinkingOf(tried).delimiters ?? facts.thinking }
    const prompt = renderedText(tried, [QUESTION], true)
    return replies.flatMap((reply) => {
      const messages = [QUESTION, ...templateMessages([reply], form)]
      const text = renderedText(tried, messages, false)
      // A template that drops a part of the reply does not write what the model wrote.
      const parts = [reply.content, reply.thinking ?? '', ...reply.calls.map(({ name }) => name)]
      if (prompt === undefined || !text?.startsWith(prompt)) return []
      return parts.every((part) => text.includes(part)) ? [{ tried, messages, text }] : []
    })
  })
}

const QUESTION: TemplateMessage = { role: 'user', content: 'Who are you?' }

interface PlainDifference extends Pick<FixCost, 'where' | 'before' | 'after'> {
  readonly options: OptionChange
}

function costsOf(subject: Subject, changed: Subject, facts: TemplateFacts): readonly FixCost[] {
  const differences = optionSets(facts, subject).flatMap((options) =>
    plainDifferences(subject, changed, facts, options),
  )
  const groups = Map.groupBy(differences, ({ options: _, ...difference }) => JSON.stringify(difference))
  return [...groups.values()].map((group) => {
    const { where, before, after } = elementAt(group, 0)
    const options = [...new Map(group.map((each) => [optionsText(each.options), each.options])).values()]
    const change =
      after === ''
        ? `without ${JSON.stringify(before)}`
        : before === ''
          ? `with an additional ${JSON.stringify(after)}`
          : `with ${JSON.stringify(after)} instead of ${JSON.stringify(before)}`
    return {
      where,
      before,
      after,
      options,
      text: `${WHERE[where]} is written ${change} (${options.map(optionsText).join('; ')}).`,
    }
  })
}

const WHERE: Readonly<Record<FixCost['where'], string>> = {
  last: 'A plain reply at the end of the conversation',
  earlier: 'A plain reply that a question follows',
  conversation: 'A conversation of plain replies',
}

const optionsText = (options: OptionChange): string =>
  Object.entries(options)
    .map(([name, value]) => (value === null ? `without ${name}` : `${name}=${value}`))
    .join(', ') || 'options as given'

/** Returns the differences with and without tools. The longer conversation counts only if the shorter ones show no difference. */
function plainDifferences(
  subject: Subject,
  changed: Subject,
  { takesSystem }: TemplateFacts,
  options: OptionChange,
): readonly PlainDifference[] {
  const question = (content: string): TemplateMessage => ({ role: 'user', content })
  const reply = (content: string): TemplateMessage => ({ role: 'assistant', content })
  const opening = [...(takesSystem ? [{ role: 'system', content: 'Be brief.' }] : []), QUESTION]
  const differenceOf = (
    where: FixCost['where'],
    messages: readonly TemplateMessage[],
    addGenerationPrompt: boolean,
  ): readonly PlainDifference[] =>
    [undefined, subject.tools].flatMap((tools) => {
      const [a, b] = [subject, changed].map((each) =>
        renderedText({ ...withOptions(each, options), tools }, messages, addGenerationPrompt),
      )
      if (a === undefined || a === b) return []
      return [{ where, options, ...middles(a, b ?? '') }]
    })
  const short = [
    ...differenceOf('last', [...opening, reply('A model.')], false),
    ...differenceOf('earlier', [...opening, reply('A model.'), question('Which?')], true),
  ]
  const long = [...opening, reply('A model.'), question('Which?'), reply('A small one.'), question('How small?')]
  return short.length > 0 ? short : differenceOf('conversation', long, true)
}

/** Returns the text between the common beginning and the common end of two texts. Marks such as <|im_end|> remain whole. */
function middles(a: string, b: string): Pick<FixCost, 'before' | 'after'> {
  const common = commonText(a, b)
  const start = common - (/[<[][^<>[\]\s]*$/.exec(a.slice(0, common))?.[0].length ?? 0)
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  end -= /^[^<>[\]\s]*[>\]]/.exec(a.slice(a.length - end))?.[0].length ?? 0
  return { before: a.slice(start, a.length - end), after: b.slice(start, b.length - end) }
}

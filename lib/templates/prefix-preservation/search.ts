/** Searches for the smallest conversation that breaks prefix preservation. */
import * as fc from 'fast-check'
import type { LabTokenizer } from '#lib/tasks/task.ts'
import type { InputError } from '../document/input.ts'
import type { ReplyBoundary } from './boundary.ts'
import { messagePartsOf } from './cause.ts'
import { compareTurn, type ScriptComparison } from './compare.ts'
import { type Plan, plans, turnOf } from './conversations.ts'
import { type DoctorInput, readTemplateUnderTest, type TemplateUnderTest } from './doctor.ts'
import { type ThinkingState, thinkingOf } from './facts.ts'
import { findingAt } from './finding.ts'
import { messagesJson } from './fix/script.ts'
import { trainedForm, writingOf } from './fix/writing.ts'
import type { CauseKind, CellFinding } from './report.ts'
import { reproduction } from './reproduction.ts'
import { RenderBudgetExceeded } from './subject.ts'

/** Template and limits of a search. */
export interface CounterexampleSearch {
  readonly input: DoctorInput
  /** The same seed makes the same conversations. */
  readonly seed: number
  /** Most conversations that are tried, without those of shrinking. */
  readonly cases: number
  /** Causes that are known already: conversations that break because of one of them are skipped. */
  readonly known: readonly CauseKind[]
}

/** The state of a search that runs. */
export interface SearchProgress {
  readonly seed: number
  readonly tried: number
  /** The smallest counterexample so far; undefined until one is found. */
  readonly smallest: Counterexample | undefined
}

/** Result of a search; `tried` does not count the conversations of shrinking. */
export type SearchResult =
  | { readonly kind: 'found'; readonly seed: number; readonly tried: number; readonly counterexample: Counterexample }
  | { readonly kind: 'none'; readonly seed: number; readonly tried: number }
  | { readonly kind: 'failed'; readonly failure: InputError }

/** A conversation that the template breaks. */
export interface Counterexample {
  /** Messages as a JSON list, including the reply and the messages after it. */
  readonly messages: string
  /** Index of the reply among the messages. */
  readonly replyIndex: number
  readonly finding: CellFinding
  /** A Python test that fails as long as the template breaks the conversation. */
  readonly reproduction: string
}

/** Conversations between two reports of progress. */
const PROGRESS = 20
/** Conversations that are generated at a time. */
const BATCH = 50

/** Searches for a counterexample and then shrinks it; yields progress every PROGRESS conversations. */
export function* searchCounterexample(
  request: CounterexampleSearch,
  tokenizer: LabTokenizer,
): Generator<SearchProgress, SearchResult> {
  try {
    return yield* searchConversations(request, tokenizer)
  } catch (error) {
    if (error instanceof RenderBudgetExceeded) return { kind: 'failed', failure: error.failure }
    throw error
  }
}

function* searchConversations(
  request: CounterexampleSearch,
  tokenizer: LabTokenizer,
): Generator<SearchProgress, SearchResult> {
  const { input, seed, cases, known } = request
  const read = readTemplateUnderTest(input, tokenizer)
  if (!read.ok) return { kind: 'failed', failure: read.error }
  const templateUnderTest = { ...read.value, state: thinkingOf(read.value.subject) }
  const isNew = (broken: Broken | undefined, kind?: CauseKind): broken is Broken =>
    broken !== undefined &&
    (kind === undefined ? !known.includes(broken.finding.cause.kind) : broken.finding.cause.kind === kind)
  let tried = 0
  for (let batch = 0; tried < cases; batch++) {
    // Each batch has a 32-bit seed of its own, so that adjacent seeds share no conversations.
    const samples = fc.sample(plans, {
      seed: (Math.imul(seed, 0x9e3779b1) + batch) | 0,
      numRuns: Math.min(BATCH, cases - tried),
    })
    for (const plan of samples) {
      tried++
      const broken = brokenBy(plan, templateUnderTest)
      if (isNew(broken)) {
        let smallest = broken
        const current = () => counterexampleOf(smallest, request, templateUnderTest)
        yield { seed, tried, smallest: current() }
        let steps = 0
        let streams = plans.shrink(plan, undefined)
        for (let next = streams.next(); !next.done; next = streams.next()) {
          const smaller = brokenBy(next.value.value_, templateUnderTest)
          if (isNew(smaller, smallest.finding.cause.kind)) {
            smallest = smaller
            streams = plans.shrink(next.value.value_, next.value.context)
          }
          if (++steps % PROGRESS === 0) yield { seed, tried, smallest: current() }
        }
        return { kind: 'found', seed, tried, counterexample: current() }
      }
      if (tried % PROGRESS === 0) yield { seed, tried, smallest: undefined }
    }
  }
  return { kind: 'none', seed, tried }
}

type Searched = TemplateUnderTest & { readonly state: ThinkingState }

interface Broken {
  readonly turn: ReplyBoundary
  readonly finding: CellFinding
  readonly comparison: ScriptComparison
}

/** Returns the difference; undefined if the conversation is stable or the template refuses it. */
function brokenBy(plan: Plan, { subject, settings, state }: Searched): Broken | undefined {
  const { facts, toolName } = settings
  const turn = turnOf(plan, { facts, state, toolName })
  const trained = { subject, facts, delimiters: state.delimiters }
  const compared = compareTurn(turn, subject, trained, writingOf(turn, trained))
  if (compared.kind !== 'compared' || compared.comparison.tokenIndex === undefined) return undefined
  const { comparison } = compared
  const messages = [...turn.history, turn.reply, ...turn.added]
  const problem = {
    comparison,
    messages: messages.map(messagePartsOf),
    replyIndex: turn.history.length,
    tags: state.tags,
    endOfTurn: facts.endOfTurn,
    addedTokens: subject.tokenizer.addedTokens,
  }
  const json = messagesJson(messages, trainedForm(trained))
  const finding = findingAt(compared.comparison.tokenIndex, problem, subject.tokenizer, json)
  return { turn, finding, comparison }
}

function counterexampleOf(
  { turn, finding, comparison }: Broken,
  { input }: CounterexampleSearch,
  { subject }: Searched,
): Counterexample {
  const replyIndex = turn.history.length
  const { expected } = comparison
  const regions = expected.regions()
  const [prompt, end] = (['prompt', 'end'] as const).map(
    (kind) => regions.find((region) => region.kind === kind)?.end ?? 0,
  ) as [number, number]
  return {
    messages: finding.messages,
    replyIndex,
    finding,
    reproduction: reproduction({
      model: subject.tokenizer.name,
      template: input.template,
      messages: finding.messages,
      tools: input.tools ?? '',
      options: input.options ?? '',
      replyIndex,
      written: expected.text.slice(prompt, end),
      appended: expected.text.slice(end),
      cause: finding.cause.text,
    }),
  }
}

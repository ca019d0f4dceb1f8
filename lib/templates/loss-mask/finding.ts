/** Summarizes in one line what is right or wrong about a way. */
import type { Break, Lint, LintKind, Mark, TokenRange } from './report.ts'

interface MaskFacts {
  /** False only if the way needs a generation block and the template has none. */
  readonly hasTag: boolean
  readonly lints: readonly Lint[]
  readonly breaks: readonly Break[]
  /** Tokens of the way that the sequence does not have. */
  readonly foreign: { readonly tokens: number; readonly trained: number }
  readonly marks: readonly Mark[]
  /** Marks of the trajectory; undefined if none is open, and for the trajectory itself. */
  readonly truth: readonly Mark[] | undefined
}

/** Returns the severity and one line of text. */
export function summarizeMask({ hasTag, lints, breaks, foreign, marks, truth }: MaskFacts): {
  readonly severity: Lint['severity'] | 'none'
  readonly text: string
} {
  // Tokens that a lint reports are not counted again.
  const reportedPlaces = lints.flatMap(({ places }) => places)
  const reportedHere = new Set(reportedPlaces.flatMap(({ inSequence }) => (inSequence ? tokensOf(inSequence) : [])))
  const reportedElsewhere = reportedPlaces.reduce(
    (sum, { inSequence, start, end }) => sum + (inSequence ? 0 : end - start),
    0,
  )
  const elsewhere = Math.max(0, foreign.trained - reportedElsewhere)
  const missing = truth?.filter((mark, token) => mark === 'trained' && marks[token] !== 'trained').length ?? 0
  const tooMany =
    truth?.filter((mark, token) => mark === 'untrained' && marks[token] === 'trained' && !reportedHere.has(token))
      .length ?? 0
  const absent = truth ? 0 : marks.filter((mark) => mark === 'unknown').length
  const untrained = truth ? 0 : foreign.tokens - foreign.trained
  const parts = [
    ...(hasTag ? [] : ['the template has no generation block']),
    ...lints.flatMap(({ kind }) => (kind === 'all-zero' && !hasTag ? [] : [SHORT_LINTS[kind]])),
    ...(missing > 0 ? [`${missing} sampled missing`] : []),
    ...(tooMany > 0 ? [`${tooMany} that ${tooMany === 1 ? 'was' : 'were'} not sampled`] : []),
    ...(elsewhere > 0 ? [`${elsewhere} trained that ${are(elsewhere)} not in this sequence`] : []),
    ...(untrained > 0 ? [`${untrained} untrained that ${are(untrained)} not in this sequence`] : []),
    ...(absent > 0 ? [`${absent} of this sequence missing`] : []),
    ...(breaks.length > 0
      ? [`the prefix breaks at ${countMessages(new Set(breaks.map(({ message }) => message)).size)}`]
      : []),
  ]
  const isError = !hasTag || missing > 0 || elsewhere > 0 || lints.some(({ severity }) => severity === 'error')
  if (parts.length === 0) return { severity: 'none', text: truth ? 'as sampled' : 'nothing found' }
  return { severity: isError ? 'error' : 'warning', text: parts.join(' · ') }
}

const tokensOf = ({ start, end }: TokenRange): readonly number[] =>
  Array.from({ length: end - start }, (_, index) => start + index)

const are = (count: number): string => (count === 1 ? 'is' : 'are')

const countMessages = (messages: number): string => (messages === 1 ? 'one message' : `${messages} messages`)

/** The lints in a few words each. */
export const SHORT_LINTS: Readonly<Record<LintKind, string>> = {
  'all-zero': 'nothing is trained',
  'header-trained': 'the header is trained',
  'context-trained': 'context is trained',
  'tool-result-trained': 'tool results are trained',
  'end-of-turn-untrained': 'the end of turn is untrained',
  'after-end-trained': 'what follows the end of turn is trained',
  'synthetic-end': 'an end of turn has logprob 0',
  merge: 'a token spans a boundary',
  'unknown-logprob': 'trained tokens without logprob',
  'span-lost': 'a generation block is lost',
}

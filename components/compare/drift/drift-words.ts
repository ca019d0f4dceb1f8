/** Names of drift kinds and severities on the page; lib/trajectory/drift/kinds.ts has their meanings. */
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import { type DriftKind, KIND_TEXTS } from '#lib/trajectory/drift/kinds.ts'
import type { DriftLayer, DriftSeverity, DriftSpan } from '#lib/trajectory/drift/report.ts'
import { areTwoSamples } from '../sides/side-words.ts'
import type { ShownPair } from '../view.ts'

/** Names that are short enough for a gutter. */
const KIND_TITLES: Readonly<Record<DriftKind, string>> = {
  split: 'split',
  normalisation: 'Unicode form',
  'partial-utf8': 'partial UTF-8',
  'call-json': 'call JSON',
  'call-rewritten': 'call rewritten',
  'think-stripped': 'think stripped',
  'think-inserted': 'think inserted',
  'end-of-turn': 'end of turn',
  separator: 'separator',
  'special-tokens': 'special tokens',
  'context-changed': 'context changed',
  truncation: 'truncation',
  content: 'content',
  unknown: 'unknown',
}

/** Words of a comparison. Two samples that a model wrote have differences, not drift: neither should equal the other. */
export interface DriftVocabulary {
  /** Name of one span within a sentence. */
  readonly noun: 'drift' | 'difference'
  readonly title: 'Drift' | 'Differences'
  /** Whether the page shows which tokens a span affects, what it costs and what helps. */
  readonly costs: boolean
  /** Returns the kind and its form, such as `call JSON · spacing`. */
  readonly kindText: (span: Pick<DriftSpan, 'kind' | 'detail'>) => string
  /** Returns the cause of the span. */
  readonly causeText: (span: DriftSpan) => string
  /** Returns a text that is shown in place of tokens that a side lacks. */
  readonly missingText: (span: Pick<DriftSpan, 'kind'>, side: SideName) => string
}

/** Words of a comparison between a recorded side and one that is made from it. */
export const DRIFT_VOCABULARY: DriftVocabulary = {
  noun: 'drift',
  title: 'Drift',
  costs: true,
  kindText: ({ kind, detail }) =>
    detail === undefined || detail === KIND_TITLES[kind] ? KIND_TITLES[kind] : `${KIND_TITLES[kind]} · ${detail}`,
  causeText: ({ cause }) => cause,
  // If only the right has the think block, it was inserted there; if only the left has it, it was stripped on the right.
  missingText: ({ kind }, side) => {
    if (kind === 'think-stripped' && side === 'left') return MISSING['think-inserted']
    if (kind === 'call-rewritten' && side === 'left') return 'this call text is missing on this side'
    return MISSING[kind]
  },
}

const MISSING: Readonly<Record<DriftKind, string>> = {
  split: 'nothing here',
  normalisation: 'nothing here',
  'partial-utf8': 'these bytes are lost',
  'call-json': 'dropped when the call was written again',
  'call-rewritten': 'dropped by the tool-call parser',
  'think-stripped': 'think block dropped by the template',
  'think-inserted': 'no think block on this side',
  'end-of-turn': 'no end of turn on this side',
  separator: 'no separator on this side',
  'special-tokens': 'no special token on this side',
  'context-changed': 'not in this side’s system prompt or tools',
  truncation: 'this side has ended',
  content: 'not on this side',
  unknown: 'not on this side',
}

const SAMPLE_VOCABULARY: DriftVocabulary = {
  noun: 'difference',
  title: 'Differences',
  costs: false,
  kindText: ({ kind }) => SAMPLE_TEXTS[kind].title,
  causeText: ({ kind }) => SAMPLE_TEXTS[kind].meaning,
  missingText: ({ kind }) => (kind === 'truncation' ? 'this sample has ended' : 'not in this sample'),
}

const SAMPLE_TEXTS: Readonly<Record<DriftKind, { readonly title: string; readonly meaning: string }>> = {
  split: { title: 'split', meaning: 'Both samples have this text, as different tokens.' },
  normalisation: { title: 'Unicode form', meaning: 'Both samples have this text, in another Unicode form.' },
  'partial-utf8': { title: 'partial UTF-8', meaning: 'One of the samples contains bytes that are not a character.' },
  'call-json': { title: 'call JSON', meaning: 'The same tool call, written in another way.' },
  'call-rewritten': { title: 'tool call', meaning: 'A different tool call, or one that only one sample makes.' },
  'think-stripped': { title: 'think block', meaning: 'Only the left sample thinks here.' },
  'think-inserted': { title: 'think block', meaning: 'Only the right sample thinks here.' },
  'end-of-turn': { title: 'end of turn', meaning: 'One sample ends its turn here, or ends it with a different token.' },
  separator: { title: 'separator', meaning: 'Different line ends or spaces between parts of the turn.' },
  'special-tokens': {
    title: 'special tokens',
    meaning: 'Different special tokens, or a turn that only one sample has.',
  },
  'context-changed': {
    title: 'context',
    meaning: 'The system prompt or the tools differ: the two samples do not answer the same prompt.',
  },
  truncation: { title: 'end', meaning: 'One sample ends here, and the other continues.' },
  content: { title: 'text', meaning: 'Different text, or text that only one sample has.' },
  unknown: { title: 'unknown', meaning: 'The texts of these ids are unknown.' },
}

/** Returns the words for a pair: two recorded samples have differences, other pairs have drift. */
export const driftVocabularyOf = ({ left, right, compared }: ShownPair): DriftVocabulary =>
  areTwoSamples(
    { side: left, trajectory: compared.left.trajectory },
    { side: right, trajectory: compared.right.trajectory },
  )
    ? SAMPLE_VOCABULARY
    : DRIFT_VOCABULARY

/** Returns what a kind of drift means, followed by its form if known. */
export function kindMeaning({ kind, detail }: Pick<DriftSpan, 'kind' | 'detail'>): string {
  const { meaning, details } = KIND_TEXTS[kind]
  const form = detail === undefined ? undefined : details[detail]
  return form === undefined ? meaning : `${meaning} Here: ${form}.`
}

interface SeverityText {
  /** One word for lists. */
  readonly word: string
  /** Which tokens are affected. */
  readonly title: string
  /** Class of the text colour. The word is always beside the colour. */
  readonly ink: string
}

/** Words and colour of each severity. */
export const SEVERITY_TEXTS: Readonly<Record<DriftSeverity, SeverityText>> = {
  trained: { word: 'trained', title: 'Trained tokens affected', ink: 'text-bad' },
  context: { word: 'context', title: 'Context of trained tokens affected', ink: 'text-warn' },
  tail: { word: 'tail', title: 'No trained tokens affected', ink: 'text-dim' },
}

/** All severities, the most serious first. */
export const SEVERITIES = Object.keys(SEVERITY_TEXTS) as readonly DriftSeverity[]

/** What differs in each layer, for tooltips beside the layer's name. */
export const LAYER_TEXTS: Readonly<Record<DriftLayer, string>> = {
  structural: 'A special token or the role of a turn differs.',
  content: 'No special token and no role differs.',
}

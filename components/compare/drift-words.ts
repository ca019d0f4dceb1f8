/** Kinds and severities of drift as the page says them; what they mean is in lib/core/drift/kinds.ts. */
import { KIND_TEXTS } from '#lib/core/drift/kinds.ts'
import type { DriftKind, DriftSeverity, DriftSpan } from '#lib/core/drift/report.ts'

/** Short enough for a gutter. */
export const KIND_TITLES: Readonly<Record<DriftKind, string>> = {
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

/** `call JSON · spacing` */
export const kindText = ({ kind, detail }: Pick<DriftSpan, 'kind' | 'detail'>): string =>
  detail === undefined || detail === KIND_TITLES[kind] ? KIND_TITLES[kind] : `${KIND_TITLES[kind]} · ${detail}`

/** What the kind means, and the form of it. */
export function kindMeaning({ kind, detail }: Pick<DriftSpan, 'kind' | 'detail'>): string {
  const { meaning, details } = KIND_TEXTS[kind]
  const form = detail === undefined ? undefined : details[detail]
  return form === undefined ? meaning : `${meaning} Here: ${form}.`
}

interface SeverityText {
  /** One word, for lists. */
  readonly word: string
  /** Who is hit. */
  readonly title: string
  /** The class of its ink; the word stands beside it. */
  readonly ink: string
}

export const SEVERITY_TEXTS: Readonly<Record<DriftSeverity, SeverityText>> = {
  trained: { word: 'trained', title: 'Trained tokens hit', ink: 'text-bad' },
  context: { word: 'context', title: 'Context of trained tokens hit', ink: 'text-warn' },
  tail: { word: 'tail', title: 'No trained token hit', ink: 'text-dim' },
}

/** The gravest first. */
export const SEVERITIES = Object.keys(SEVERITY_TEXTS) as readonly DriftSeverity[]

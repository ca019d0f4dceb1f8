/**
 * Adds samples to totals one by one, as they arrive. Totals of parts can be merged in any order. If a check is cancelled, its totals
 * are correct for the samples that were read.
 */

import type { CallReader } from '#lib/parsers/missed-calls.ts'
import type { DriftKind } from '#lib/trajectory/drift/kinds.ts'
import { countsAsDrift, DRIFT_SEVERITIES, type DriftSeverity } from '#lib/trajectory/drift/report.ts'
import {
  type CheckedSample,
  type LayerCounts,
  type Sample,
  type SampleOrigin,
  type SpanCounts,
  sampleOriginText,
} from './sample.ts'

/** Totals over samples. See the schema in report.ts for the fields without a comment. */
export interface Totals {
  readonly samples: {
    readonly checked: number
    /** Checked samples by their most severe drift. */
    readonly bySeverity: SpanCounts
    /** Checked samples with structural drift. */
    readonly structural: number
    /** Checked samples that break into several training rows. */
    readonly split: number
    /** Drifting samples that could not be reconstructed exactly: their drift may come from that. */
    readonly withCaveats: number
    readonly unchecked: number
  }
  readonly tokens: { readonly left: number; readonly right: number }
  readonly trained: { readonly touched: number; readonly of: number }
  readonly turns: number
  readonly spans: SpanCounts
  /** The same spans by layer. */
  readonly layers: LayerCounts
  readonly wasted: {
    /** Tokens in the prefix cache that the prompt of the next call does not begin with, of the `prefixOf` tokens in the cache. */
    readonly prefix: number
    readonly prefixOf: number
    /** Tokens of all training rows of a sample but the last. */
    readonly rows: number
    /** Sampled tokens that become context in a training row. */
    readonly realigned: number
  }
  readonly rows: number
  readonly kinds: ReadonlyMap<DriftKind, KindTotals>
  /** Totals by the number of the response, from 0; the key undefined is drift between responses. */
  readonly byTurn: ReadonlyMap<number | undefined, PlaceTotals>
  /** Numbers of checked samples by the number of their responses. */
  readonly turnCounts: ReadonlyMap<number, number>
  readonly byTool: ReadonlyMap<string, PlaceTotals & { readonly calls: number }>
  readonly reasons: ReadonlyMap<string, ReasonTotals>
  /** Responses with the markup of a call, of which no call was parsed, and the samples that have such responses. */
  readonly missed: MissedTotals
  /** The same by the parser that would read the calls, such as `rollscope hermes` or `sglang minimax-m2`. */
  readonly missedBy: ReadonlyMap<string, MissedTotals & { readonly reader: CallReader }>
}

interface MissedTotals {
  readonly samples: number
  readonly responses: number
}

interface PlaceTotals {
  readonly samples: number
  readonly spans: number
}

interface KindTotals extends PlaceTotals {
  readonly bySeverity: SpanCounts
  readonly layers: LayerCounts
  /** Trained tokens in drift of this kind. */
  readonly trained: number
  readonly gravest: GravestSpan
}

/** The most severe span of a kind of drift. */
interface GravestSpan {
  readonly place: SampleOrigin
  /** Number of the span in its sample, from 0. */
  readonly drift: number
  readonly severity: DriftSeverity
  /** Trained tokens in the span. */
  readonly trained: number
  readonly cause: string
  readonly remedy: string
}

interface ReasonTotals {
  readonly samples: number
  readonly hint: string | undefined
  /** The sample whose place is first in the order of `isBefore`. */
  readonly example: { readonly place: SampleOrigin; readonly detail: string | undefined }
}

const NO_SPANS: SpanCounts = { trained: 0, context: 0, tail: 0 }
const NO_LAYERS: LayerCounts = { structural: 0, content: 0 }

/** Totals of no samples. */
export const NO_TOTALS: Totals = {
  samples: { checked: 0, bySeverity: NO_SPANS, structural: 0, split: 0, withCaveats: 0, unchecked: 0 },
  tokens: { left: 0, right: 0 },
  trained: { touched: 0, of: 0 },
  turns: 0,
  spans: NO_SPANS,
  layers: NO_LAYERS,
  wasted: { prefix: 0, prefixOf: 0, rows: 0, realigned: 0 },
  rows: 0,
  kinds: new Map(),
  byTurn: new Map(),
  turnCounts: new Map(),
  byTool: new Map(),
  reasons: new Map(),
  missed: { samples: 0, responses: 0 },
  missedBy: new Map(),
}

/** Returns the totals with one more sample. */
export const withSample = (totals: Totals, sample: Sample): Totals => addTotals(totals, totalsOf(sample))

/** Adds two totals. The operation is associative and commutative, and NO_TOTALS is its neutral element. */
export function addTotals(a: Totals, b: Totals): Totals {
  return {
    samples: {
      checked: a.samples.checked + b.samples.checked,
      bySeverity: addSpanCounts(a.samples.bySeverity, b.samples.bySeverity),
      structural: a.samples.structural + b.samples.structural,
      split: a.samples.split + b.samples.split,
      withCaveats: a.samples.withCaveats + b.samples.withCaveats,
      unchecked: a.samples.unchecked + b.samples.unchecked,
    },
    tokens: { left: a.tokens.left + b.tokens.left, right: a.tokens.right + b.tokens.right },
    trained: { touched: a.trained.touched + b.trained.touched, of: a.trained.of + b.trained.of },
    turns: a.turns + b.turns,
    spans: addSpanCounts(a.spans, b.spans),
    layers: addedLayers(a.layers, b.layers),
    wasted: {
      prefix: a.wasted.prefix + b.wasted.prefix,
      prefixOf: a.wasted.prefixOf + b.wasted.prefixOf,
      rows: a.wasted.rows + b.wasted.rows,
      realigned: a.wasted.realigned + b.wasted.realigned,
    },
    rows: a.rows + b.rows,
    kinds: mergedMaps(a.kinds, b.kinds, (one, other) => ({
      ...addedPlaces(one, other),
      bySeverity: addSpanCounts(one.bySeverity, other.bySeverity),
      layers: addedLayers(one.layers, other.layers),
      trained: one.trained + other.trained,
      gravest: isGraver(other.gravest, one.gravest) ? other.gravest : one.gravest,
    })),
    byTurn: mergedMaps(a.byTurn, b.byTurn, addedPlaces),
    turnCounts: mergedMaps(a.turnCounts, b.turnCounts, (one, other) => one + other),
    byTool: mergedMaps(a.byTool, b.byTool, (one, other) => ({
      ...addedPlaces(one, other),
      calls: one.calls + other.calls,
    })),
    reasons: mergedMaps(a.reasons, b.reasons, (one, other) => {
      const [first, second] = isBefore(other.example.place, one.example.place) ? [other, one] : [one, other]
      return { ...first, samples: first.samples + second.samples }
    }),
    missed: addedMissed(a.missed, b.missed),
    missedBy: mergedMaps(a.missedBy, b.missedBy, (one, other) => ({ ...one, ...addedMissed(one, other) })),
  }
}

/** Returns the totals of a single sample. */
function totalsOf(sample: Sample): Totals {
  if (sample.kind === 'unchecked') {
    const { why, hint, detail, place } = sample
    return {
      ...NO_TOTALS,
      samples: { ...NO_TOTALS.samples, unchecked: 1 },
      reasons: new Map([[why, { samples: 1, hint, example: { place, detail } }]]),
    }
  }
  const {
    tokens,
    trained,
    turns,
    severity,
    rows,
    prefixLost,
    prefixKept,
    kinds,
    byTurn,
    byTool,
    caveats,
    place,
    missedCalls,
  } = sample
  const layers = kinds.reduce((sum, one) => addedLayers(sum, one.layers), NO_LAYERS)
  return {
    samples: {
      checked: 1,
      bySeverity: severity ? { ...NO_SPANS, [severity]: 1 } : NO_SPANS,
      structural: layers.structural > 0 ? 1 : 0,
      split: rows.count > 1 ? 1 : 0,
      withCaveats: caveats.length > 0 && countsAsDrift(severity) ? 1 : 0,
      unchecked: 0,
    },
    tokens,
    trained,
    turns,
    spans: kinds.reduce((sum, { spans }) => addSpanCounts(sum, spans), NO_SPANS),
    layers,
    wasted: {
      prefix: prefixLost,
      prefixOf: prefixKept + prefixLost,
      rows: rows.extra,
      realigned: rows.realigned,
    },
    rows: rows.count,
    kinds: new Map(kinds.map((one) => [one.kind, kindTotals(one, place)])),
    byTurn: new Map(byTurn.map(({ turn, spans }) => [turn, { samples: 1, spans }])),
    turnCounts: new Map([[turns, 1]]),
    byTool: new Map(byTool.map(({ tool, calls, spans }) => [tool, { samples: spans > 0 ? 1 : 0, spans, calls }])),
    reasons: new Map(),
    missed: missedCalls ? { samples: 1, responses: missedCalls.responses } : NO_TOTALS.missed,
    missedBy: new Map(
      missedCalls?.readers.map(({ responses, ...reader }) => [
        `${reader.kind} ${reader.name}`,
        { reader, samples: 1, responses },
      ]),
    ),
  }
}

const kindTotals = (
  { spans, layers, trained, gravest }: CheckedSample['kinds'][number],
  place: SampleOrigin,
): KindTotals => ({
  samples: 1,
  spans: spanCount(spans),
  bySeverity: spans,
  layers,
  trained,
  gravest: { place, ...gravest },
})

/** Returns the number of drift spans of all severities. */
export const spanCount = ({ trained, context, tail }: SpanCounts): number => trained + context + tail

const addSpanCounts = (a: SpanCounts, b: SpanCounts): SpanCounts => ({
  trained: a.trained + b.trained,
  context: a.context + b.context,
  tail: a.tail + b.tail,
})

const addedLayers = (a: LayerCounts, b: LayerCounts): LayerCounts => ({
  structural: a.structural + b.structural,
  content: a.content + b.content,
})

const addedPlaces = (a: PlaceTotals, b: PlaceTotals): PlaceTotals => ({
  samples: a.samples + b.samples,
  spans: a.spans + b.spans,
})

const addedMissed = (a: MissedTotals, b: MissedTotals): MissedTotals => ({
  samples: a.samples + b.samples,
  responses: a.responses + b.responses,
})

function mergedMaps<Key, Value>(
  a: ReadonlyMap<Key, Value>,
  b: ReadonlyMap<Key, Value>,
  merge: (one: Value, other: Value) => Value,
): ReadonlyMap<Key, Value> {
  if (b.size === 0) return a
  const all = new Map(a)
  for (const [key, value] of b) {
    const known = all.get(key)
    all.set(key, known === undefined ? value : merge(known, value))
  }
  return all
}

/** Compares two spans. If both are equally severe, the place decides, so that the result does not depend on the order of samples. */
function isGraver(a: GravestSpan, b: GravestSpan): boolean {
  const ranks = DRIFT_SEVERITIES.indexOf(b.severity) - DRIFT_SEVERITIES.indexOf(a.severity) || a.trained - b.trained
  return ranks === 0 ? isBefore(a.place, b.place) : ranks > 0
}

/** Orders places by their text, and within one file by record number, so that line 9 is before line 10. */
const isBefore = (a: SampleOrigin, b: SampleOrigin): boolean =>
  a.kind === 'file' && b.kind === 'file' && a.file === b.file
    ? a.record < b.record
    : sampleOriginText(a) < sampleOriginText(b)

/** Gives every drift of an alignment its kind, cause, remedy and severity. */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type AlignedRun, driftOf } from '../align.ts'
import { KIND_TEXTS } from '../kinds.ts'
import type { DriftLayer, DriftSpan } from '../report.ts'
import { toolCall } from './call/call.ts'
import { context } from './context.ts'
import { mergeEqualRuns } from './cut.ts'
import type { DriftSide } from './drift-side.ts'
import { endOfTurn } from './end-of-turn.ts'
import { driftImpact } from './hit.ts'
import { movedAroundCall } from './moved.ts'
import { type DriftPosition, type DriftVerdict, partOf, type Rule } from './place.ts'
import { content, truncation } from './remainder.ts'
import { classifySameBytes, classifySpelling, classifyUnknownTexts } from './same-bytes.ts'
import { separator } from './separator.ts'
import { isStructural, specialTokens } from './special-tokens.ts'
import { think } from './think.ts'
import { normalisation, partialUtf8 } from './unicode.ts'

/** All rules, the most certain first. The first rule that applies wins. */
const RULES: readonly Rule[] = [
  classifyUnknownTexts,
  classifySpelling,
  classifySameBytes,
  partialUtf8,
  normalisation,
  endOfTurn,
  truncation,
  think,
  toolCall,
  movedAroundCall,
  separator,
  specialTokens,
  context,
]

/** The classified drifts of a comparison. */
export interface ClassifiedDrifts {
  /** The runs of the alignment; drifts with several causes are cut. */
  readonly alignedRuns: readonly AlignedRun[]
  /** One span for each drift, in order. */
  readonly spans: readonly DriftSpan[]
}

/** Classifies the drifts of an alignment. */
export function classify(given: readonly AlignedRun[], left: DriftSide, right: DriftSide): ClassifiedDrifts {
  const alignedRuns = mergeEqualRuns(given, left, right)
  const across = acrossRuns(alignedRuns)
  const spans = driftOf(alignedRuns).map((drift): DriftSpan => {
    const place = {
      left: partOf(left, drift.left),
      right: partOf(right, drift.right),
      sameBytes: drift.sameBytes,
      across,
    }
    const verdict = verdictOn(place)
    return {
      left: drift.left,
      right: drift.right,
      ...verdict,
      remedy: KIND_TEXTS[verdict.kind].remedy,
      layer: layerOf(verdict, place),
      ...driftImpact(drift, left, right),
    }
  })
  return { alignedRuns, spans }
}

/** Uses the kind's layer where it has one, and the tokens of the drift otherwise. */
const layerOf = ({ kind }: DriftVerdict, { left, right }: DriftPosition): DriftLayer =>
  kind === 'special-tokens' || kind === 'end-of-turn' || isStructural(left) || isStructural(right)
    ? 'structural'
    : 'content'

function verdictOn(place: DriftPosition): DriftVerdict {
  for (const rule of RULES) {
    const verdict = rule(place)
    if (verdict) return verdict
  }
  return content(place)
}

/** Maps a range of one side to the other; partly covered drifts count as a whole. */
function acrossRuns(alignedRuns: readonly AlignedRun[]): DriftPosition['across'] {
  return (from, { start, end }) => {
    const to = from === 'left' ? 'right' : 'left'
    const holding = (token: number) => {
      const index = countWhile(alignedRuns.length, (at) => elementAt(alignedRuns, at)[from].end <= token)
      return elementAt(alignedRuns, index)
    }
    const [first, last] = [holding(start), holding(end - 1)]
    return {
      start: first[to].start + (first.kind === 'equal' ? start - first[from].start : 0),
      end: last[to].end - (last.kind === 'equal' ? last[from].end - end : 0),
    } satisfies Span
  }
}

/** Reports drift as findings: the places where a pipeline that keeps text instead of ids would have other tokens. */
import { type Health, type HealthFinding, sortBySeverity } from '#lib/trajectory/health/health.ts'
import { encodingOf } from '#lib/trajectory/tokens/texts.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { int32At } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

/** Drift of a trajectory in mode text, or why it is unknown. */
export type Drift =
  | { readonly kind: 'unknown'; readonly why: string }
  | {
      readonly kind: 'known'
      /** Flat pairs [start, end, …] of the trajectory's tokens that become other tokens. They are sorted, and none is empty. */
      readonly ranges: Int32Array
      /** Number of the ranges that contain a trained token. */
      readonly trained: number
      /** Number of the ranges where the text itself changes: a Unicode form, or bytes that are not a character. */
      readonly otherBytes: number
      /** Number of tokens in the ranges, and of the tokens that replace them. */
      readonly tokens: number
      readonly others: number
      /** Texts in the file that differ from those of the tokenizer. Omitted: there are none. */
      readonly otherPieces?: OtherPieces
    }

/** Token texts of a file that has the fingerprint of the tokenizer, but other texts for some ids. */
interface OtherPieces {
  /** Number of ids with another text. */
  readonly ids: number
  readonly example: { readonly id: number; readonly file: string; readonly tokenizer: string }
  /** Positions of their tokens in the trajectory, sorted. Empty if the ids occur only as alternatives. */
  readonly tokens: Int32Array
}

/** Returns the name of the tokenizer that the server must load, or why there is none. */
export function driftTokenizer(trajectory: TrajectoryView): { readonly name: string } | { readonly why: string } {
  const { tokenizer } = trajectory.model
  if (encodingOf(trajectory)) return { why: 'the ids are re-encoded, so that there are no others to compare them with' }
  if (!tokenizer) return { why: 'the file names no tokenizer' }
  if (tokenizer.source === 'server')
    return { why: 'the tokenizer is the server’s own, and its files are not available here' }
  return { name: tokenizer.name }
}

/** Returns all drift as one finding with a place for each span. */
function driftFinding(drift: Extract<Drift, { kind: 'known' }>): HealthFinding | undefined {
  const { ranges, trained, otherBytes, tokens, others } = drift
  const count = ranges.length / 2
  if (count === 0) return undefined
  const inContext = count - trained
  return {
    kind: 'drift',
    severity: inContext > 0 ? 'warning' : 'note',
    label: `drift ${countWithNoun(count, 'span')}`,
    message: [
      `Encoding the text again gives ${countWithNoun(others, 'token')} instead of ${tokens}.`,
      inContext === 0
        ? 'Every span contains trained tokens.'
        : `${trained} of ${count} spans contain trained tokens, ${inContext} ${inContext === 1 ? 'is' : 'are'} context alone.`,
      ...(otherBytes > 0
        ? [`In ${otherBytes} the text itself changes (a Unicode form, or bytes that are not a character).`]
        : []),
    ].join(' '),
    count,
    places: Array.from({ length: count }, (_, index) => ({
      start: int32At(ranges, 2 * index),
      end: int32At(ranges, 2 * index + 1),
    })),
    remedy: 'Train on the recorded ids: a pipeline that keeps text would train other tokens than were sampled.',
  }
}

/** Returns the findings that need a tokenizer, the most severe first. */
export function tokenizerFindings(drift: Drift): readonly HealthFinding[] {
  if (drift.kind === 'unknown') return []
  return [piecesFinding(drift), driftFinding(drift)].filter((finding) => finding !== undefined)
}

function piecesFinding({ otherPieces }: Extract<Drift, { kind: 'known' }>): HealthFinding | undefined {
  if (!otherPieces) return undefined
  const { ids, tokens, example } = otherPieces
  return {
    kind: 'pieces',
    severity: 'error',
    label: `${countWithNoun(ids, 'id')} with another text`,
    message: `The file gives id ${example.id} the text ${JSON.stringify(example.file)}, and the tokenizer of its fingerprint ${JSON.stringify(example.tokenizer)}: the texts and the calls shown do not belong to the ids.`,
    count: ids,
    places: Array.from(tokens, (token) => ({ start: token, end: token + 1 })),
    remedy:
      'Trust the ids, not the texts: check the program that wrote the file, and write the file again with this tokenizer.',
  }
}

/** Returns the health with the check named drift added. */
export function withDrift({ findings, checks }: Health, drift: Drift): Health {
  return {
    findings: sortBySeverity([...findings, ...tokenizerFindings(drift)]),
    checks: [...checks, { name: 'drift', ...(drift.kind === 'unknown' && { unknown: drift.why }) }],
  }
}

/** Finds the places where a pipeline that keeps text instead of ids would have other tokens. */
import { textComparison } from '#lib/analysis/retokenize/text-side.ts'
import { vocabularyWriter } from '#lib/rollout/record/record.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { countsAsDrift } from '#lib/trajectory/drift/report.ts'
import type { Span, VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'
import type { Drift } from './drift.ts'

/**
 * Finds drift in mode text: the ids of the whole sequence are decoded and encoded again. The spans are those that count as drift in the
 * comparison and in the corpus report. Drift is unknown if the tokenizer is not the recorded one or lacks an id.
 */
export function textDrift(trajectory: TrajectoryView, tokenizer: Tokenizer): Drift {
  const recorded = trajectory.model.tokenizer?.fingerprint
  if (recorded !== undefined && recorded !== tokenizer.fingerprint)
    return { kind: 'unknown', why: `the tokenizer ${tokenizer.name} on this machine is not the recorded one` }
  const own = ids(trajectory)
  const foreign = own.find((id) => id >= tokenizer.vocabularySize)
  if (foreign !== undefined) return { kind: 'unknown', why: `the tokenizer ${tokenizer.name} has no id ${foreign}` }
  // The texts are taken from the tokenizer, because those of the file may differ.
  const { vocab } = vocabularyWriter({ vocab: {} }, tokenizer)(own)
  const { report, alignedRuns } = textComparison({ ...trajectory, vocab }, tokenizer)
  const drifts = alignedRuns.filter((alignedRun) => alignedRun.kind === 'drift')
  const found = report.spans.flatMap((span, index) =>
    countsAsDrift(span.severity) ? [{ ...span, sameBytes: drifts[index]?.sameBytes === true }] : [],
  )
  const spans = found.map(({ left }) => withToken(left, own.length))
  return {
    kind: 'known',
    ranges: Int32Array.from(spans.flatMap(({ start, end }) => [start, end])),
    trained: found.filter(({ severity }) => severity === 'trained').length,
    otherBytes: found.filter(({ sameBytes }) => !sameBytes).length,
    tokens: sum(found.map(({ left }) => left.end - left.start)),
    others: sum(found.map(({ right }) => right.end - right.start)),
    ...(recorded !== undefined && otherPieces(trajectory, own, tokenizer)),
  }
}

/** Finds ids whose text in the file differs from the tokenizer's. Call it only if the fingerprints are equal. */
function otherPieces(
  { vocab }: TrajectoryView,
  own: Int32Array | readonly number[],
  tokenizer: Tokenizer,
): Pick<Extract<Drift, { readonly kind: 'known' }>, 'otherPieces'> {
  const other = new Set<number>()
  for (const [key, entry] of Object.entries(vocab)) {
    const id = Number(key)
    if (id < tokenizer.vocabularySize && !isEqual(bytesOf(entry), tokenizer.bytes(id))) other.add(id)
  }
  const [id] = other
  if (id === undefined) return {}
  const tokens: number[] = []
  for (const [index, one] of own.entries()) if (other.has(one)) tokens.push(index)
  const example = {
    id,
    file: excerptOfBytes(bytesOf(vocab[id] as VocabEntry)),
    tokenizer: excerptOfBytes(tokenizer.bytes(id)),
  }
  return { otherPieces: { ids: other.size, example, tokens: Int32Array.from(tokens) } }
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index])

const LONGEST_PIECE = 40

function excerptOfBytes(bytes: Uint8Array): string {
  return excerpt(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), LONGEST_PIECE)
}

/** Widens an empty span, where only the encoded text has tokens, to the token after it; at the end, to the last token. */
const withToken = ({ start, end }: Span, length: number): Span => {
  const first = Math.min(start, Math.max(0, length - 1))
  return { start: first, end: Math.max(end, first + 1) }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

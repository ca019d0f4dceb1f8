/** Drifts whose sides have the same bytes as different tokens. */
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { DriftSide } from './drift-side.ts'
import { bytesIn, type DriftPart, type DriftPosition, type DriftVerdict, tokensIn, tokenText } from './place.ts'

/** Recognises a text that is tokenized differently. */
export function classifySameBytes(place: DriftPosition): DriftVerdict | undefined {
  const { left, right, sameBytes } = place
  if (!sameBytes) return undefined
  if (bytesIn(left.side, left.span).length === 0)
    return { kind: 'unknown', cause: 'Tokens without text: they differ, or are on one side only.' }
  const [before, after] = [left, right].map(({ span }) => span.end - span.start) as [number, number]
  const detail = after < before ? 'merge' : after > before ? 'split' : 'shift'
  return {
    kind: 'split',
    detail,
    cause: isOtherTokenizer(left.side, right.side)
      ? `A different tokenizer splits this text ${countWithNoun(before, 'token')} → ${countWithNoun(after, 'token')}.`
      : `Encoding this text again gives different tokens: ${countWithNoun(before, 'token')} ${HOW[detail]} ${countWithNoun(after, 'token')}. A model may sample any split, also one that the tokenizer never produces.`,
  }
}

const HOW = { merge: 'became', split: 'became', shift: 'cut elsewhere became' } as const

function isOtherTokenizer(left: DriftSide, right: DriftSide): boolean {
  const [ours, theirs] = [left, right].map(({ trajectory }) => trajectory.model.tokenizer?.fingerprint)
  return ours !== undefined && theirs !== undefined && ours !== theirs
}

/** Recognises the text of a special token that is spelled with ordinary ones. */
export function classifySpelling({ left, right, sameBytes }: DriftPosition): DriftVerdict | undefined {
  if (!sameBytes) return undefined
  const names = (part: DriftPart) => part.specials().map((token) => tokenText(part.side, token))
  const [ours, theirs] = [names(left), names(right)]
  const own = ours.find((name) => !theirs.includes(name))
  const other = theirs.find((name) => !ours.includes(name))
  const name = own ?? other
  if (name === undefined) return undefined
  return {
    kind: 'special-tokens',
    detail: 'spelled',
    cause:
      own === undefined
        ? `${name} is one special token on the right and ordinary tokens on the left: the model wrote its text, and encoding turned it into the token.`
        : `${name} is one special token on the left and ordinary tokens on the right: the text was encoded without special tokens.`,
  }
}

/** Recognises ids whose texts are unknown. */
export function classifyUnknownTexts({ left, right }: DriftPosition): DriftVerdict | undefined {
  const isUnknown =
    ({ side }: DriftPart) =>
    (token: number) =>
      side.bytesAt(token) === undefined
  return [left, right].some((part) => tokensIn(part.span, isUnknown(part)).length > 0)
    ? { kind: 'unknown', cause: 'The texts of these ids are unknown, so the difference cannot be explained.' }
    : undefined
}

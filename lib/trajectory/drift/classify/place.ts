/** The input of the classification rules: the content of both sides at a drift and its surroundings. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { uint8At } from '#lib/util/element-at.ts'
import type { DriftKind } from '../kinds.ts'
import { type DriftSide, isBlank, isSpecialAt } from './drift-side.ts'

/** A drift with both sides. */
export interface DriftPosition {
  readonly left: DriftPart
  readonly right: DriftPart
  /** True if both sides have the same bytes. */
  readonly sameBytes: boolean
  /** Maps a range of tokens of one side to the other side. */
  readonly across: (from: 'left' | 'right', span: Span) => Span
}

/** One side of a drift. */
export interface DriftPart {
  readonly side: DriftSide
  /** The range of tokens; it may be empty. */
  readonly span: Span
  /** The decoded bytes of all tokens; invalid UTF-8 becomes U+FFFD. */
  readonly text: () => string
  /** Tokens that are neither empty nor white space. */
  readonly words: () => readonly number[]
  readonly specials: () => readonly number[]
}

/** The result of a rule, which returns undefined if it does not apply. */
export interface DriftVerdict {
  readonly kind: DriftKind
  readonly detail?: string
  readonly cause: string
}
/** A classification rule. */
export type Rule = (place: DriftPosition) => DriftVerdict | undefined

/** Returns the part of a side in a span. */
export function partOf(side: DriftSide, span: Span): DriftPart {
  let text: string | undefined
  let words: readonly number[] | undefined
  let specials: readonly number[] | undefined
  return {
    side,
    span,
    text: () => (text ??= decoder.decode(bytesIn(side, span))),
    words: () => (words ??= tokensIn(span, (token) => !isBlank(side, token))),
    specials: () => (specials ??= tokensIn(span, (token) => isSpecialAt(side, token))),
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Returns the bytes of a span of tokens. */
export function bytesIn({ bytesAt }: DriftSide, { start, end }: Span): Uint8Array {
  const pieces: Uint8Array[] = []
  let length = 0
  for (let token = start; token < end; token++) {
    const piece = bytesAt(token)
    if (!piece) continue
    pieces.push(piece)
    length += piece.length
  }
  const joined = new Uint8Array(length)
  let at = 0
  // A loop is faster than set() for arrays as short as tokens.
  for (const piece of pieces) for (let byte = 0; byte < piece.length; byte++) joined[at++] = uint8At(piece, byte)
  return joined
}

/** Returns whether a part has no tokens. */
export const isEmpty = ({ span }: DriftPart): boolean => span.start === span.end

/** Returns whether a part extends to the end of its side. */
export const isLast = ({ span, side }: DriftPart): boolean => span.end === side.ids.length

/** Returns the tokens of a span that pass a test. */
export function tokensIn({ start, end }: Span, test: (token: number) => boolean): readonly number[] {
  const found: number[] = []
  for (let token = start; token < end; token++) if (test(token)) found.push(token)
  return found
}

/** Returns the text of the tokens that are not special. */
export function ordinaryText(part: DriftPart): string {
  const { side, span } = part
  let text = ''
  let from = span.start
  for (const token of [...part.specials(), span.end]) {
    text += decoder.decode(bytesIn(side, { start: from, end: token }))
    from = token + 1
  }
  return text
}

/** Returns the text of one token. */
export const tokenText = (side: DriftSide, token: number): string =>
  decoder.decode(bytesIn(side, { start: token, end: token + 1 }))

/** Returns the two texts without their common beginning and end. */
export function cores(place: DriftPosition): { readonly left: string; readonly right: string } & Trimmed {
  const [a, b] = [place.left.text(), place.right.text()]
  const most = Math.min(a.length, b.length)
  let before = 0
  while (before < most && a[before] === b[before]) before++
  let after = 0
  while (after < most - before && a[a.length - 1 - after] === b[b.length - 1 - after]) after++
  return {
    left: a.slice(before, a.length - after),
    right: b.slice(before, b.length - after),
    before: a.slice(0, before),
    after: a.slice(a.length - after),
  }
}

interface Trimmed {
  readonly before: string
  readonly after: string
}

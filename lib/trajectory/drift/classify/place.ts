/** A drift as rules look at it: what both sides hold there, and what stands around it. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { DriftKind } from '../report.ts'
import { type DriftSide, isBlank, isSpecial } from './drift-side.ts'

export interface DriftPosition {
  readonly left: DriftPart
  readonly right: DriftPart
  /** Both spell the same bytes. */
  readonly sameBytes: boolean
  /** Of a range of tokens of one side the tokens of the other that stand for it. */
  readonly across: (from: 'left' | 'right', span: Span) => Span
}

/** What one side holds. */
export interface DriftPart {
  readonly side: DriftSide
  /** May be empty. */
  readonly span: Span
  /** Bytes joined, then decoded: U+FFFD where they are not valid UTF-8 together. */
  readonly text: () => string
  /** Tokens that are neither white space nor nothing. */
  readonly words: () => readonly number[]
  readonly specials: () => readonly number[]
}

/** A rule's finding; undefined from a rule: it is something else. */
export interface DriftVerdict {
  readonly kind: DriftKind
  readonly detail?: string
  readonly cause: string
}
export type Rule = (place: DriftPosition) => DriftVerdict | undefined

export function partOf(side: DriftSide, span: Span): DriftPart {
  let text: string | undefined
  let words: readonly number[] | undefined
  let specials: readonly number[] | undefined
  return {
    side,
    span,
    text: () => (text ??= decoder.decode(bytesIn(side, span))),
    words: () => (words ??= tokensIn(span, (token) => !isBlank(side, token))),
    specials: () => (specials ??= tokensIn(span, (token) => isSpecial(side, token))),
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

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
  // A loop: set() costs more than tokens are long.
  for (const piece of pieces) for (let byte = 0; byte < piece.length; byte++) joined[at++] = elementAt(piece, byte)
  return joined
}

export const isEmpty = ({ span }: DriftPart): boolean => span.start === span.end

/** It reaches to the end of its side. */
export const isLast = ({ span, side }: DriftPart): boolean => span.end === side.ids.length

/** Tokens for which a test holds. */
export function tokensIn({ start, end }: Span, test: (token: number) => boolean): readonly number[] {
  const found: number[] = []
  for (let token = start; token < end; token++) if (test(token)) found.push(token)
  return found
}

/** The text of the tokens that are not special. */
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

/** The text of one token. */
export const tokenText = (side: DriftSide, token: number): string =>
  decoder.decode(bytesIn(side, { start: token, end: token + 1 }))

/** The two texts without what they begin and end with in common. */
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

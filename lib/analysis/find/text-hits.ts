/** Finds texts, regular expressions and sequences of ids as ranges of tokens. Each generator yields the number of hits so far. */
import { tokensAt } from '#lib/trajectory/tokens/pieces.ts'
import { findOccurrences, foldedText } from './folded-text.ts'
import type { Term } from './query.ts'
import { type RangeWriter, rangeWriter } from './ranges.ts'
import type { TextIndex } from './text-index.ts'

/** Number of hits between two yields, at which the caller can stop the search. */
const SLICE = 8192

type TermOf<Kind extends Term['kind']> = Extract<Term, { kind: Kind }>

/** Finds a text. Hits do not overlap in the text; hits that share a token are one range. */
export function* textHits(
  { text, isExact }: TermOf<'text'>,
  { text: all, folded, starts }: TextIndex,
): Generator<number, Int32Array> {
  const writer = rangeWriter()
  let found = 0
  for (const at of isExact ? findOccurrences(text, all) : findOccurrences(foldedText(text), folded)) {
    addHit(writer, starts, at, at + text.length)
    if (++found % SLICE === 0) yield found
  }
  return writer.written()
}

/** Finds matches of a regular expression, except empty ones. A single match may take very long: the caller must be able to stop it. */
export function* patternHits(
  { pattern }: TermOf<'pattern'>,
  { text, starts }: TextIndex,
): Generator<number, Int32Array> {
  const writer = rangeWriter()
  let found = 0
  for (const { 0: match, index } of text.matchAll(pattern)) {
    if (match.length > 0) addHit(writer, starts, index, index + match.length)
    if (++found % SLICE === 0) yield found
  }
  return writer.written()
}

/** Finds consecutive ids. Hits do not overlap. */
export function* idHits({ ids }: TermOf<'ids'>, all: Int32Array): Generator<number, Int32Array> {
  const writer = rangeWriter()
  const [first] = ids as readonly [number, ...number[]]
  let found = 0
  for (let at = all.indexOf(first); at >= 0; ) {
    const isHere = ids.every((id, offset) => all[at + offset] === id)
    if (isHere) {
      writer.add(at, at + ids.length)
      if (++found % SLICE === 0) yield found
    }
    at = all.indexOf(first, at + (isHere ? ids.length : 1))
  }
  return writer.written()
}

function addHit(writer: RangeWriter, starts: Int32Array, from: number, to: number): void {
  const { start, end } = tokensAt(starts, from, to)
  writer.add(start, end)
}

/** Where texts, regular expressions and sequences of ids stand, as ranges of tokens. Each yields the number found so far. */
import { tokensAt } from '#lib/trajectory/tokens/pieces.ts'
import { foldedText, offsetsOf } from './folded-text.ts'
import type { Term } from './query.ts'
import { type RangeWriter, rangeWriter } from './ranges.ts'
import type { TextIndex } from './text-index.ts'

/** Hits after which whoever runs the search may stop it. */
const SLICE = 8192

type TermOf<Kind extends Term['kind']> = Extract<Term, { kind: Kind }>

export function* textHits(
  { text, isExact }: TermOf<'text'>,
  { text: all, folded, starts }: TextIndex,
): Generator<number, Int32Array> {
  const writer = rangeWriter()
  let found = 0
  for (const at of isExact ? offsetsOf(text, all) : offsetsOf(foldedText(text), folded)) {
    addHit(writer, starts, at, at + text.length)
    if (++found % SLICE === 0) yield found
  }
  return writer.written()
}

/** Matches of nothing are passed over. An expression that runs away is stopped by whoever runs the search. */
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

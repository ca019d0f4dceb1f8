/** Finds texts, regular expressions and sequences of ids as ranges of tokens. Each generator yields the number of hits so far. */
import { countWhileFrom } from '#lib/util/bisect.ts'
import { int32At } from '#lib/util/element-at.ts'
import { findOccurrences, foldedText } from './folded-text.ts'
import type { Term } from './query.ts'
import { rangeWriter } from './ranges.ts'
import type { TextIndex } from './text-index.ts'

/** Number of hits between two yields, at which the caller can stop the search. */
const SLICE = 8192

type TermOf<Kind extends Term['kind']> = Extract<Term, { kind: Kind }>

/** Finds a text. Hits do not overlap in the text; hits that share a token are one range. */
export function* textHits(
  { text, isExact }: TermOf<'text'>,
  { text: all, folded, ...places }: TextIndex,
): Generator<number, Int32Array> {
  const hits = hitWriter(places)
  let found = 0
  for (const at of isExact ? findOccurrences(text, all) : findOccurrences(foldedText(text), folded)) {
    hits.add(at, at + text.length)
    if (++found % SLICE === 0) yield found
  }
  return hits.written()
}

/** Finds matches of a regular expression, except empty ones. A single match may take very long: the caller must be able to stop it. */
export function* patternHits(
  { pattern }: TermOf<'pattern'>,
  { text, ...places }: TextIndex,
): Generator<number, Int32Array> {
  const hits = hitWriter(places)
  let found = 0
  for (const { 0: match, index } of text.matchAll(pattern)) {
    if (match.length > 0) hits.add(index, index + match.length)
    if (++found % SLICE === 0) yield found
  }
  return hits.written()
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

/**
 * Returns a writer of hits as ranges of tokens. Hits must be added in the order of the text: the tokens of a hit are looked for from
 * those of the hit before, because a search among all tokens for each of 150,000 hits takes longer than the hits. tokensAt defines
 * which tokens a hit has.
 */
function hitWriter({ starts, ends }: Pick<TextIndex, 'starts' | 'ends'>) {
  const writer = rangeWriter()
  /** Numbers of tokens that begin at the start of the last hit or before it, that end there, and that begin before its end. */
  let begun = 0
  let ended = 0
  let end = 0
  return {
    /** Adds the tokens of a range of the text that is not empty. */
    add(from: number, to: number) {
      begun = countWhileFrom(begun, starts.length, (token) => int32At(starts, token) <= from)
      end = countWhileFrom(Math.max(end, begun), starts.length, (token) => int32At(starts, token) < to)
      if (ends) ended = countWhileFrom(ended, ends.length, (token) => int32At(ends, token) <= from)
      writer.add(ends ? Math.min(ended, begun - 1) : begun - 1, end)
    },
    written: writer.written,
  }
}

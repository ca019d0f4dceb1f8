/** Texts that follow one another in what a template wrote, found again: which tokens hold each. */

import { elementAt } from '#lib/util/element-at.ts'
import type { Span } from '../format/trajectory.ts'
import { tokensAt } from './pieces.ts'

/** Ways in which a text may be written, the likeliest first. */
export type WantedText = readonly string[]

export interface WaysOfWriting {
  readonly text: string
  /** UTF-16 offset at which each token starts, and the end. */
  readonly starts: readonly number[]
  /** Indices of the special tokens: texts begin behind one and end before one. */
  readonly specials: readonly number[]
}

/** For each wanted text its tokens; undefined where it is not there. The spans are in order, disjoint and never empty. */
export function findTexts(wanted: readonly WantedText[], written: WaysOfWriting): readonly (Span | undefined)[] {
  // Texts are looked for from the next token on: which of two a shared token belongs to cannot be told.
  let next = 0
  return wanted.map((forms) => {
    const from = elementAt(written.starts, next)
    for (const form of new Set(forms)) {
      const start = form === '' ? undefined : bestPlace(form, from, written)
      if (start === undefined) continue
      const tokens = tokensAt(written.starts, start, start + form.length)
      next = tokens.end
      return tokens
    }
    return undefined
  })
}

/** So long a text is what was meant wherever it stands. */
const LONG_TEXT = 200
/** Places that are compared: a short text may stand anywhere. */
const MOST_PLACES = 64

/** A short text may also stand in the template's own words: a place that markup encloses is rather meant. */
function bestPlace(form: string, from: number, written: WaysOfWriting): number | undefined {
  let best: { readonly start: number; readonly score: number } | undefined
  for (let start = written.text.indexOf(form, from), seen = 0; start >= 0 && seen < MOST_PLACES; seen++) {
    const score = form.length >= LONG_TEXT ? BEST : scoreOf(start, start + form.length, written)
    if (!best || score > best.score) best = { start, score }
    if (score === BEST) break
    start = written.text.indexOf(form, start + 1)
  }
  return best?.start
}

const BEST = 2

function scoreOf(start: number, end: number, { text, starts, specials }: WaysOfWriting): number {
  const before = specials.findLast((token) => elementAt(starts, token + 1) <= start)
  const after = specials.find((token) => elementAt(starts, token) >= end)
  const head = text.slice(before === undefined ? 0 : starts[before + 1], start)
  const tail = text.slice(end, after === undefined ? undefined : starts[after])
  return (HEADER.test(head) ? 1 : 0) + (tail.trim() === '' ? 1 : 0)
}

/** What stands between markup and text: nothing, or the role and a line end. */
const HEADER = /^\s*(\w{1,20}\s*)?$/

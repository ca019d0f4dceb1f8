/** Finds texts in the output of a template, in order, and the tokens of each. */

import { elementAt } from '#lib/util/element-at.ts'
import type { Span } from '../format/trajectory.ts'
import { type TextWithStarts, tokensAt } from './pieces.ts'

/** Notations of one text, the most likely first. */
export type WantedText = readonly string[]

/** The rendered text in which texts are searched. */
export interface WaysOfWriting extends Pick<TextWithStarts, 'text' | 'starts' | 'ends'> {
  /** Indices of the special tokens: a text begins after one and ends before one. */
  readonly specials: readonly number[]
}

/**
 * Returns the tokens of each wanted text, or undefined if it is missing. The spans are in order, disjoint and never
 * empty.
 */
export function findTexts(wanted: readonly WantedText[], written: WaysOfWriting): readonly (Span | undefined)[] {
  // The search continues at the next token, because a shared token cannot be assigned to one of two texts.
  let next = 0
  return wanted.map((forms) => {
    const from = elementAt(written.starts, next)
    for (const form of new Set(forms)) {
      const start = form === '' ? undefined : bestPlace(form, from, written)
      if (start === undefined) continue
      const tokens = tokensAt(written, start, start + form.length)
      const own = { start: Math.max(next, tokens.start), end: tokens.end }
      next = own.end
      return own
    }
    return undefined
  })
}

/** Texts from this length on are unambiguous at any position. */
const LONG_TEXT = 200
/** Most positions compared for a short text, which may occur anywhere. */
const MOST_PLACES = 64

/** A short text may also occur in the template's own words, so a position inside of markup is preferred. */
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

/** Text between markup and message: nothing, or the role and a line end. */
const HEADER = /^\s*(\w{1,20}\s*)?$/

/** Think blocks that one side has and the other has not. */

import { elementAt } from '#lib/util/element-at.ts'
import { firstTouched } from './drift-side.ts'
import { cores, type DriftPart, type DriftPosition, type DriftVerdict, partOf } from './place.ts'

export function think(place: DriftPosition): DriftVerdict | undefined {
  const { left, right, before } = cores(place)
  const [ours, theirs] = [thinkingIn(place.left, left, before), thinkingIn(place.right, right, before)]
  if (!ours || !theirs || RANK[ours] === RANK[theirs]) return undefined
  if (RANK[ours] > RANK[theirs])
    return {
      kind: 'think-stripped',
      cause:
        ours === 'empty block'
          ? 'An empty think block was dropped: the prompt opened the reply with one, and the template leaves it out of the history.'
          : ours === 'block' && theirs === 'nothing'
            ? 'The think block was dropped: the template leaves out the thinking of earlier turns, or the parser took it from the reply and nothing put it back.'
            : 'The think block was emptied: its thoughts did not come back with the message, and the template wrote the block without them.',
    }
  return {
    kind: 'think-inserted',
    cause:
      theirs === 'empty block'
        ? 'An empty think block was put in: the template writes one before a reply that comes without reasoning.'
        : 'The thoughts of a think block stand on the right only: the left had none, or its template dropped them.',
  }
}

/** thoughts: all that a block says, without its delimiters. */
type Thinking = 'nothing' | 'empty block' | 'thoughts' | 'block'
const RANK: Readonly<Record<Thinking, number>> = { nothing: 0, 'empty block': 1, thoughts: 2, block: 2 }

const NAMES = 'think|thinking|thought|reasoning|seed:think'
const OPENING = new RegExp(`<(?:${NAMES})>|\\[THINK\\]`)
const CLOSING = new RegExp(`<\\/(?:${NAMES})>|\\[\\/THINK\\]`)
const DELIMITERS = new RegExp(`${OPENING.source}|${CLOSING.source}`, 'g')
const WHOLE = new RegExp(`^\\s*(?:${OPENING.source})((?:(?!${CLOSING.source})[^])*)(?:${CLOSING.source})\\s*$`)

/** Undefined: it holds something else, or only some of a block’s thoughts. */
function thinkingIn(part: DriftPart, core: string, before: string): Thinking | undefined {
  if (core.trim() === '') return 'nothing'
  const whole = WHOLE.exec(core)
  if (whole) return isNoThought(elementAt(whole, 1)) ? 'empty block' : 'block'
  return thoughtsIn(part, core, before)
}

/** Delimiters take few tokens, even where they are spelled: what is longer holds thoughts. */
const MOST_DELIMITING = 12

/** Of a known block: whether nothing but delimiters is left of it without the core. */
function thoughtsIn({ side, span }: DriftPart, core: string, before: string): Thinking | undefined {
  const block = firstTouched(side.thinks, span)
  if (!block || span.start - block.start > MOST_DELIMITING || block.end - span.end > MOST_DELIMITING) return undefined
  const first = Math.min(block.start, span.start)
  const text = partOf(side, { start: first, end: Math.max(block.end, span.end) }).text()
  const start = partOf(side, { start: first, end: span.start }).text().length + before.length
  const end = start + core.length
  const open = OPENING.exec(text)?.index ?? 0
  const closing = CLOSING.exec(text)
  const close = closing ? closing.index + closing[0].length : text.length
  const outside = text.slice(start, Math.max(start, open)) + text.slice(Math.min(close, end), end)
  const left = text.slice(open, Math.max(open, start)) + text.slice(Math.min(close, end), close)
  const thoughts = text.slice(Math.max(open, start), Math.min(close, end))
  if (outside.trim() !== '' || !isNoThought(left) || isNoThought(thoughts)) return undefined
  return OPENING.test(thoughts) || CLOSING.test(thoughts) ? 'block' : 'thoughts'
}

const isNoThought = (text: string): boolean => text.replace(DELIMITERS, '').trim() === ''

/** A text that is the end of a think block and nothing else. */
export const closesThink = (text: string): boolean => CLOSING.test(text) && isNoThought(text) && !OPENING.test(text)

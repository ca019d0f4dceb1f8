/** Think blocks that only one side has. */

import { elementAt } from '#lib/util/element-at.ts'
import { firstTouched } from './drift-side.ts'
import { cores, type DriftPart, type DriftPosition, type DriftVerdict, partOf } from './place.ts'

/** Recognises a drift in a think block. */
export function think(place: DriftPosition): DriftVerdict | undefined {
  const { left, right, before } = cores(place)
  const [ours, theirs] = [thinkingIn(place.left, left, before), thinkingIn(place.right, right, before)]
  if (!ours || !theirs || RANK[ours] === RANK[theirs]) return undefined
  if (RANK[ours] > RANK[theirs])
    return {
      kind: 'think-stripped',
      cause:
        ours === 'empty block'
          ? 'An empty think block was dropped: the prompt opened the reply with one, and the template omits it from the history.'
          : ours === 'block' && theirs === 'nothing'
            ? 'The think block was dropped: the template omits the thinking of earlier turns, or the parser removed it from the reply and nothing restored it.'
            : 'The think block was emptied: the message lost its thoughts, and the template wrote the block without them.',
    }
  return {
    kind: 'think-inserted',
    cause:
      theirs === 'empty block'
        ? 'An empty think block was inserted: the template writes one before a reply without reasoning.'
        : 'The thoughts of a think block are on the right only: the left had none, or its template dropped them.',
  }
}

/** 'thoughts' is the content of a block without its delimiters. */
type Thinking = 'nothing' | 'empty block' | 'thoughts' | 'block'
const RANK: Readonly<Record<Thinking, number>> = { nothing: 0, 'empty block': 1, thoughts: 2, block: 2 }

const NAMES = 'think|thinking|thought|reasoning|seed:think|longcat_think'
const OPENING = new RegExp(`<(?:${NAMES})>|\\[THINK\\]`)
const CLOSING = new RegExp(`<\\/(?:${NAMES})>|\\[\\/THINK\\]`)
const DELIMITERS = new RegExp(`${OPENING.source}|${CLOSING.source}`, 'g')
const WHOLE = new RegExp(`^\\s*(?:${OPENING.source})((?:(?!${CLOSING.source})[^])*)(?:${CLOSING.source})\\s*$`)

/** Returns undefined if the part contains anything else, or only a part of the thoughts. */
function thinkingIn(part: DriftPart, core: string, before: string): Thinking | undefined {
  if (core.trim() === '') return 'nothing'
  const whole = WHOLE.exec(core)
  if (whole) return isNoThought(elementAt(whole, 1)) ? 'empty block' : 'block'
  return thoughtsIn(part, core, before)
}

/** Delimiters are short, even if they are spelled; longer text contains thoughts. */
const MOST_DELIMITING = 12

/** Returns whether only delimiters of a known block remain without the core. */
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

/** Returns whether a text is the end of a think block and nothing else. */
export const closesThink = (text: string): boolean => CLOSING.test(text) && isNoThought(text) && !OPENING.test(text)

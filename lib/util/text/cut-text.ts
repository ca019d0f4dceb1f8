import { countText } from '#lib/util/text/count-with-noun.ts'
import { isPairAt } from './excerpt.ts'

/**
 * Limits a text to this many UTF-16 characters (Infinity keeps it unchanged), with a line in the middle that gives the
 * number of omitted ones.
 */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  const note = (left: number) => `\n[… ${countText(left)} characters left out …]\n`
  const room = Math.max(0, most - note(text.length).length)
  const head = wholeUpTo(text, Math.ceil(room / 2))
  const tail = wholeFrom(text, text.length - Math.floor(room / 2))
  return `${text.slice(0, head)}${note(tail - head)}${text.slice(tail)}`
}

/** Returns the nearest position that does not split a surrogate pair. */
const wholeUpTo = (text: string, end: number): number => (isPairAt(text, end - 1) ? end - 1 : end)
const wholeFrom = (text: string, start: number): number => (isPairAt(text, start - 1) ? start + 1 : start)

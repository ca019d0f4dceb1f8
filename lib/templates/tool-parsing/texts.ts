/** Numbers and excerpts in sentences. */

/** Returns a count with its noun, such as `1 call` and `2,000 calls`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

const LONGEST = 60

/** Returns the text, cut to 60 UTF-16 units. */
export const clipForReport = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

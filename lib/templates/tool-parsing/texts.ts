/** Numbers and excerpts in sentences. */

export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

const LONGEST = 60

export const clipped = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

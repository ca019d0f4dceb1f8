/** A number and its noun in a sentence. */

const grouped = new Intl.NumberFormat('en')

/** Returns a number with its noun, such as `1 call`, `2,000 calls` and `2 properties`. */
export const countWithNoun = (count: number, noun: string, plural = `${noun}s`): string =>
  `${grouped.format(count)} ${count === 1 ? noun : plural}`

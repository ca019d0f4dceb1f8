/** Numbers in texts, also with their noun. */

const grouped = new Intl.NumberFormat('en')

/** Returns an integer with grouped digits, such as `12,345`. */
export const countText = (count: number): string => grouped.format(count)

/** Returns a number with its noun, such as `1 call`, `2,000 calls` and `2 properties`. */
export const countWithNoun = (count: number, noun: string, plural = `${noun}s`): string =>
  `${countText(count)} ${count === 1 ? noun : plural}`

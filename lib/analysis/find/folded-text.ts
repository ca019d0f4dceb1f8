/** Returns a text in lower case with all offsets unchanged. İ becomes i, because it would become longer, and final ς becomes σ. */
export function foldedText(text: string): string {
  const lower = text.includes('İ') ? text.replaceAll('İ', 'i').toLowerCase() : text.toLowerCase()
  return lower.includes('ς') ? lower.replaceAll('ς', 'σ') : lower
}

/** Returns true if a search text has a capital letter, so that the search must distinguish upper and lower case. */
export const hasCapital = (text: string): boolean => /\p{Lu}/u.test(text)

/** Yields the offsets at which `needle` occurs in `text`, without overlaps. */
export function* findOccurrences(needle: string, text: string): Generator<number> {
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) yield at
}

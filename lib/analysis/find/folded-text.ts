/** In lower case, every character at its place: of all, only İ becomes longer, and ς is σ at the end of a word. */
export function foldedText(text: string): string {
  const lower = text.includes('İ') ? text.replaceAll('İ', 'i').toLowerCase() : text.toLowerCase()
  return lower.includes('ς') ? lower.replaceAll('ς', 'σ') : lower
}

/** A capital letter in what is looked for asks for upper and lower case as written. */
export const hasCapital = (text: string): boolean => /\p{Lu}/u.test(text)

/** Offsets at which a text stands, not overlapping. */
export function* offsetsOf(needle: string, text: string): Generator<number> {
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) yield at
}

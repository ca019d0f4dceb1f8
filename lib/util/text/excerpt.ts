/** Returns the text, or its beginning of at most `longest` UTF-16 units with an ellipsis. */
export const excerpt = (text: string, longest: number): string =>
  text.length > longest ? `${beginningOf(text, longest)}…` : text

/** Returns the first `longest` UTF-16 units of a text, or one less where the end would split a surrogate pair. */
export const beginningOf = (text: string, longest: number): string =>
  text.slice(0, isPairAt(text, longest - 1) ? longest - 1 : longest)

/** Returns whether the UTF-16 unit at this index and the one after it are a surrogate pair. */
export const isPairAt = (text: string, index: number): boolean => (text.codePointAt(index) ?? 0) > 0xffff

/** Most characters of a word before a place in it. */
const WORD_CHARACTERS = 20

/** Returns a text from the word on that contains a UTF-16 index, with an ellipsis in place of its beginning; its last word at its end. */
export function fromWordAt(text: string, index: number): string {
  const place = Math.min(index, text.trimEnd().length)
  let start = place
  while (start > 0 && place - start < WORD_CHARACTERS && /\S/.test(text.charAt(start - 1))) start--
  if (isPairAt(text, start - 1)) start--
  return `${start > 0 ? '…' : ''}${text.slice(start)}`
}

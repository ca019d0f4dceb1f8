/** Splits a text at added tokens as Hugging Face’s tokenizers does: whole words, and white space that belongs to a token. */

/** An added token of tokenizer.json. */
export interface SplittingToken {
  readonly id: number
  readonly content: string
  /** Whether the white space before the token, or after it, is part of it. */
  readonly lstrip: boolean
  readonly rstrip: boolean
  /** Whether it is only a token if no word character is next to it. */
  readonly single_word: boolean
}

/** A part of a text: an added token with its id, or a text between two of them. */
export interface TextSection {
  readonly text: string
  readonly id: number | undefined
}

/** Returns a function that splits a text. The longest token counts at each position; the joined sections are the text. */
export function addedTokenSplitter(tokens: readonly SplittingToken[]): (text: string) => readonly TextSection[] {
  if (tokens.length === 0) return (text) => (text === '' ? [] : [{ text, id: undefined }])
  const byContent = new Map(tokens.map((token) => [token.content, token]))
  const alternatives = [...byContent.keys()].sort((a, b) => b.length - a.length).map(RegExp.escape)
  // The pattern has no flag u, because the library compares code units.
  const pattern = new RegExp(alternatives.join('|'), 'g')
  return (text) => {
    const sections: TextSection[] = []
    let from = 0
    for (const { 0: content, index } of text.matchAll(pattern)) {
      const token = byContent.get(content)
      const after = index + content.length
      if (!token || (token.single_word && isInWord(text, index, after))) continue
      const start = token.lstrip ? Math.max(from, index - spaceBefore(text, index)) : index
      const end = token.rstrip ? after + spaceAfter(text, after) : after
      if (start > from) sections.push({ text: text.slice(from, start), id: undefined })
      sections.push({ text: text.slice(start, end), id: token.id })
      from = end
    }
    if (from < text.length) sections.push({ text: text.slice(from), id: undefined })
    return sections
  }
}

/** Word characters of Rust’s regular expressions, which those of JavaScript are not. */
const WORD = '[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]'
const WORD_BEFORE = new RegExp(`${WORD}$`, 'u')
const WORD_AFTER = new RegExp(`^${WORD}`, 'u')

/** Returns whether a word character is next to a range. A character has one or two code units. */
const isInWord = (text: string, start: number, end: number): boolean =>
  WORD_BEFORE.test(text.slice(Math.max(0, start - 2), start)) || WORD_AFTER.test(text.slice(end, end + 2))

/** Matches white space of Unicode, of which JavaScript’s \s has one character more and one less. */
const SPACE = /\p{White_Space}/u

function spaceBefore(text: string, end: number): number {
  let start = end
  while (start > 0 && SPACE.test(text.charAt(start - 1))) start--
  return end - start
}

function spaceAfter(text: string, start: number): number {
  let end = start
  while (end < text.length && SPACE.test(text.charAt(end))) end++
  return end - start
}

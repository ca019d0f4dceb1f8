/**
 * Texts of others, such as titles, messages, file and tool names, as they may be drawn: every character is seen, and none
 * moves its neighbours. A character without a shape of its own is written as its code point, as the token view writes it.
 */

/** Control, format, private, unassigned and otherwise ignorable characters, directions among them. Not spaces, tabs and line ends. */
const HIDDEN = /[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\t\n\r]]/v

/** Sequences that fonts draw as one sign hold joiners and variation selectors that are meant. Only the listed ones: others can carry hidden characters. */
const EMOJI_OR_HIDDEN = new RegExp(`\\p{RGI_Emoji}|(${HIDDEN.source})`, 'gv')

/** `⟨U+202E⟩` */
export const codePointMark = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`

export const hasHiddenCharacter = (text: string): boolean => HIDDEN.test(text) && visibleText(text) !== text

/** Where a place in the drawn text stands in the text itself; both in UTF-16 units. */
export function placeInText(text: string, drawn: number): number {
  let [at, end] = [0, 0]
  for (const character of text) {
    end += HIDDEN.test(character) ? codePointMark(character).length : character.length
    if (end > drawn) break
    at += character.length
  }
  return at
}

/** The text with a mark for each hidden character; the same string where it has none. */
export const visibleText = (text: string): string =>
  HIDDEN.test(text)
    ? text.replace(EMOJI_OR_HIDDEN, (found, hidden: string | undefined) =>
        hidden === undefined ? found : codePointMark(hidden),
      )
    : text

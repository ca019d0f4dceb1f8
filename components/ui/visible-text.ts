/**
 * Foreign texts, such as titles, messages, file and tool names, made safe to draw: every character is visible, and none
 * moves its neighbours. A character without a shape becomes its code point, as in the token view.
 */

/**
 * Matches control, format, private, unassigned and other ignorable characters, including directional ones. Spaces, tabs and
 * line ends do not match.
 */
const HIDDEN = /[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\t\n\r]]/v

/**
 * Matches emoji first, since they contain joiners and variation selectors. Only listed sequences count, because others can
 * contain hidden characters.
 */
const EMOJI_OR_HIDDEN = new RegExp(`\\p{RGI_Emoji}|(${HIDDEN.source})`, 'gv')

/** Returns the code point of a character, such as `⟨U+202E⟩`. */
export const codePointMark = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`

/** Returns whether a text has a character that visibleText replaces. */
export const hasHiddenCharacter = (text: string): boolean => HIDDEN.test(text) && visibleText(text) !== text

/** Returns the offset in the text for an offset in the drawn text, both in UTF-16 units. */
export function placeInText(text: string, drawn: number): number {
  let [at, end] = [0, 0]
  for (const character of text) {
    end += HIDDEN.test(character) ? codePointMark(character).length : character.length
    if (end > drawn) break
    at += character.length
  }
  return at
}

/** Returns the text with a mark for each hidden character; the same string if there are none. */
export const visibleText = (text: string): string =>
  HIDDEN.test(text)
    ? text.replace(EMOJI_OR_HIDDEN, (found, hidden: string | undefined) =>
        hidden === undefined ? found : codePointMark(hidden),
      )
    : text

/**
 * Returns the text with a capital if it begins with an English word in lower case. A text that begins with a name, such as
 * `rollouts.jsonl`, is unchanged.
 */
export const sentenceCase = (text: string): string =>
  /^[a-z]+[ :,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text

/** Finds the font files of a style sheet that a document needs, and puts them into the style sheet. */
import type { Characters } from './document.ts'

/** A `@font-face` rule of a style sheet. */
export interface FontFace {
  /** Text of the whole rule, as it is in the style sheet. */
  readonly rule: string
  /** URL of the font file, as the rule names it. */
  readonly url: string
  /** True if the font draws tokens; false if it draws only labels. */
  readonly isMonospaced: boolean
  /** Code points of the file as half-open ranges. Empty: the rule names none, which means all. */
  readonly ranges: readonly (readonly [start: number, end: number])[]
}

/** Returns the `@font-face` rules of a style sheet. */
export const fontFacesIn = (style: string): FontFace[] =>
  Array.from(style.matchAll(/@font-face\s*\{[^}]*\}/g), ([rule]) => ({
    rule,
    url: /url\(\s*["']?([^"')]+)["']?\s*\)/.exec(rule)?.[1] ?? '',
    isMonospaced: /font-family:[^;}]*mono/i.test(rule),
    ranges: rangesOf(/unicode-range:([^;}]*)/i.exec(rule)?.[1] ?? ''),
  }))

/** Reads ranges such as `U+20-7E`, `U+4??` and `U+26`. */
function rangesOf(text: string): FontFace['ranges'] {
  return Array.from(text.matchAll(/U\+([0-9A-F?]+)(?:-([0-9A-F]+))?/gi), ([, from = '', to]) => [
    Number.parseInt(from.replaceAll('?', '0'), 16),
    Number.parseInt(to ?? from.replaceAll('?', 'F'), 16) + 1,
  ])
}

/** Returns true if this file draws one of the characters. Latin is always needed, for the texts of the page. */
export function isNeeded({ ranges, isMonospaced }: FontFace, { tokens, labels }: Characters): boolean {
  if (ranges.length === 0) return true
  return Array.from(`a${isMonospaced ? tokens : labels}`, (character) => character.codePointAt(0) as number).some(
    (point) => ranges.some(([start, end]) => start <= point && point < end),
  )
}

/** Returns the style sheet with the content of each file in its rule. Rules without a content are removed. */
export const withFonts = (style: string, contents: ReadonlyMap<FontFace, string>): string =>
  fontFacesIn(style).reduce((text, face) => {
    const content = [...contents].find(([known]) => known.rule === face.rule)?.[1]
    return text.replace(face.rule, () =>
      content === undefined ? '' : face.rule.replace(/url\([^)]*\)/, () => `url(${content})`),
    )
  }, style)

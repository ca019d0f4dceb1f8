/** The fonts of a style sheet: which of its files a document needs, and the sheet with those files in it. */
import type { Characters } from './document.ts'

export interface FontFace {
  /** The whole rule, as it stands in the style sheet. */
  readonly rule: string
  /** The file, as the rule names it. */
  readonly url: string
  /** Whether tokens are drawn in it, and not only what is said about them. */
  readonly isMonospaced: boolean
  /** Code points that it has, half-open; none said: all. */
  readonly ranges: readonly (readonly [start: number, end: number])[]
}

export const fontFacesIn = (style: string): FontFace[] =>
  Array.from(style.matchAll(/@font-face\s*\{[^}]*\}/g), ([rule]) => ({
    rule,
    url: /url\(\s*["']?([^"')]+)["']?\s*\)/.exec(rule)?.[1] ?? '',
    isMonospaced: /font-family:[^;}]*mono/i.test(rule),
    ranges: rangesOf(/unicode-range:([^;}]*)/i.exec(rule)?.[1] ?? ''),
  }))

/** `U+20-7E`, `U+4??`, `U+26`. */
function rangesOf(text: string): FontFace['ranges'] {
  return Array.from(text.matchAll(/U\+([0-9A-F?]+)(?:-([0-9A-F]+))?/gi), ([, from = '', to]) => [
    Number.parseInt(from.replaceAll('?', '0'), 16),
    Number.parseInt(to ?? from.replaceAll('?', 'F'), 16) + 1,
  ])
}

/** Whether this file draws one of the characters. What the page itself says is plain Latin. */
export function isNeeded({ ranges, isMonospaced }: FontFace, { tokens, labels }: Characters): boolean {
  if (ranges.length === 0) return true
  return Array.from(`a${isMonospaced ? tokens : labels}`, (character) => character.codePointAt(0) as number).some(
    (point) => ranges.some(([start, end]) => start <= point && point < end),
  )
}

/** The style sheet in which every rule names its file's content, or is gone where there is none. */
export const withFonts = (style: string, contents: ReadonlyMap<FontFace, string>): string =>
  fontFacesIn(style).reduce((text, face) => {
    const content = [...contents].find(([known]) => known.rule === face.rule)?.[1]
    return text.replace(face.rule, () =>
      content === undefined ? '' : face.rule.replace(/url\([^)]*\)/, () => `url(${content})`),
    )
  }, style)

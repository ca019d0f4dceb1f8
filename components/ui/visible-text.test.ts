import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pieceView } from '#components/token-view/pieces/piece-view.ts'
import { anyText } from '#testing/strings.ts'
import { hasHiddenCharacter, placeInText, sentenceCase, visibleText } from './visible-text.ts'

describe('visible text', () => {
  test.each([
    ['right-to-left override', 'invoice\u202Egpj.exe', 'invoice⟨U+202E⟩gpj.exe'],
    ['isolates', '\u2066a\u2069', '⟨U+2066⟩a⟨U+2069⟩'],
    ['zero-width space', 'read\u200B_file', 'read⟨U+200B⟩_file'],
    ['tag characters', 'a\u{E0041}', 'a⟨U+E0041⟩'],
    ['terminal escapes', '\u001b[31m', '⟨U+001B⟩[31m'],
    ['soft hyphens', 'co\u00ADop', 'co⟨U+00AD⟩op'],
    ['line separators', 'a\u2028b', 'a⟨U+2028⟩b'],
    ['half of a character', 'a\uD83D', 'a⟨U+D83D⟩'],
    ['a variation selector that is not part of an emoji', 'a\uFE0F', 'a⟨U+FE0F⟩'],
  ])('writes %s as code points', (_name, text, shown) => {
    expect([visibleText(text), hasHiddenCharacter(text)]).toEqual([shown, true])
  })

  test.each(['plain text\twith tabs\r\nand lines', 'naïve 日本語 العربية', '👩‍👩‍👧 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'a\u00A0b', ''])(
    'leaves %j unchanged',
    (text) => {
      expect([visibleText(text), hasHiddenCharacter(text)]).toEqual([text, false])
    },
  )

  test('contains no character that reorders or hides text, and keeps every other one', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 40 }), (text) => {
        const shown = visibleText(text)
        expect(shown).not.toMatch(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/)
        expect(shown.replace(/⟨U\+([0-9A-F]+)⟩/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))).toBe(
          text,
        )
      }),
    )
  })

  test('maps an offset in the drawn text to an offset in the text', () => {
    const text = 'a\u202Eb'
    expect([0, 1, 5, 8, 9, 10, 99].map((drawn) => placeInText(text, drawn))).toEqual([0, 1, 1, 1, 2, 3, 3])
  })

  test('agrees with the token view', () => {
    for (const character of ['\u202E', '\u200B', '\u001b', '\u{E0041}', '\u00AD'])
      expect(visibleText(character)).toBe(pieceView(character).text)
  })
})

test('A sentence begins with a capital, and a name at its beginning keeps its letters', () => {
  expect(sentenceCase('the file is larger than 64 MiB')).toBe('The file is larger than 64 MiB')
  expect(sentenceCase('expected JSON, found "x"')).toBe('Expected JSON, found "x"')
  for (const text of ['rollouts.jsonl cannot be opened', 'sglang-a does not answer', 'No file is open here.', ''])
    expect(sentenceCase(text)).toBe(text)
})

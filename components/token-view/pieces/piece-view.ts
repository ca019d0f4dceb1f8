/** How the text of one token is drawn: nothing invisible, nothing that moves its neighbours. */

import { codePointMark } from '#components/ui/visible-text.ts'
import type { Vocab, VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { unknownPiece } from '#lib/trajectory/tokens/pieces.ts'

export interface PieceView {
  /** The text itself, with visible stand-ins for what has no shape of its own. */
  readonly text: string
  /** As long as the text: marks for spaces, tabs and line ends, blank elsewhere. Drawn fainter, over the text. */
  readonly marks: string
  /** Every character is one cell wide in a monospaced font. */
  readonly isPlain: boolean
  readonly endsLine: boolean
}

/** A text of a token is drawn up to here (UTF-16 units); of the rest its length is told. */
export const LONGEST = 400

/** An id whose text is not known is drawn as its number. */
export const pieceOf = (id: number, vocab: Vocab): PieceView => pieceView(vocab[id] ?? unknownPiece(id))

/** `longest` in UTF-16 units: no character is cut in two. */
export function pieceView(entry: VocabEntry, longest = LONGEST): PieceView {
  if (typeof entry !== 'string') return shown(bytesView(entry.hex), false)
  if (entry === '') return shown('⟨empty⟩', false)
  if (entry.length <= longest) return shown(entry, entry.includes('\n'))
  const kept = entry.slice(0, isHighSurrogate(entry.charCodeAt(longest - 1)) ? longest - 1 : longest)
  return shown(`${kept}…⟨${(entry.length - kept.length).toLocaleString('en')} more⟩`, entry.includes('\n'))
}

/** Cells of a text that is drawn with one cell for each character; undefined: how it is drawn has to be looked at. */
export const plainCells = (entry: VocabEntry): number | undefined =>
  typeof entry === 'string' && entry !== '' && entry.length <= LONGEST && ONE_CELL_EACH.test(entry)
    ? entry.length
    : undefined

/** Bytes that are no text alone: part of a character, or none. */
export const bytesView = (hex: string): string => `⟨${(hex.match(/../g) ?? []).join(' ').toUpperCase()}⟩`

function shown(source: string, endsLine: boolean): PieceView {
  if (SHOWS_ITSELF.test(source)) return { text: source, marks: blank(source), isPlain: PLAIN.test(source), endsLine }
  let text = ''
  let marks = ''
  for (const { segment } of ASCII.test(source) ? asciiCharacters(source) : characters.segment(source)) {
    const views = EMOJI.test(segment) ? [{ text: segment, mark: blank(segment) }] : Array.from(segment, characterView)
    // A mark that has no letter before it in its token would be drawn over the token before.
    if (/^\p{M}/u.test(segment)) views.unshift({ text: '◌', mark: ' ' })
    for (const view of views) {
      text += view.text
      marks += view.mark
    }
  }
  return { text, marks, isPlain: PLAIN.test(text), endsLine }
}

const PLAIN = /^[\x20-\x7e]*$/
const ONE_CELL_EACH = /^[\x20-\x7e\n\t\r]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const ASCII = /^[\x00-\x7f]*$/
/** Most tokens: letters, digits and signs that stand alone and are seen. */
const SHOWS_ITSELF = /^[[\p{L}\p{N}\p{P}\p{S}]--\p{Default_Ignorable_Code_Point}]*$/v
/** Sequences that fonts draw as one sign: only the listed ones, since others can carry hidden characters. */
const EMOJI = /^\p{RGI_Emoji}$/v

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })

const asciiCharacters = (source: string) => Array.from(source, (segment) => ({ segment }))

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00

interface CharacterView {
  readonly text: string
  readonly mark: string
}

/** Marks of one cell that fonts for program text have: of U+240D, the sign for CR, most systems show an empty box. */
const VISIBLE: ReadonlyMap<string, CharacterView> = new Map([
  [' ', { text: ' ', mark: '·' }],
  ['\n', { text: ' ', mark: '↵' }],
  ['\t', { text: ' ', mark: '⇥' }],
  ['\r', { text: ' ', mark: '⇤' }],
])

/** Control, format, invisible and private characters are told by their code point; others stand for themselves. */
function characterView(character: string): CharacterView {
  const known = VISIBLE.get(character)
  if (known) return known
  const isInvisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u.test(
    character,
  )
  const text = isInvisible ? codePointMark(character) : character
  return { text, mark: blank(text) }
}

const blank = (text: string): string => ' '.repeat(text.length)

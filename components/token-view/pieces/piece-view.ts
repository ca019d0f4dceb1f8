/** The drawing of one token's text, in which every character is visible and none moves its neighbours. */

import { countText } from '#components/token-view/numbers.ts'
import { codePointMark } from '#components/ui/visible-text.ts'
import type { Vocab, VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { unknownPiece } from '#lib/trajectory/tokens/pieces.ts'
import { beginningOf } from '#lib/util/text/excerpt.ts'

/** How a token is drawn. */
export interface PieceView {
  /** The text, with visible replacements for characters without a shape. */
  readonly text: string
  /** Marks for spaces, tabs and line ends, as long as the text and blank elsewhere. They are drawn fainter, over the text. */
  readonly marks: string
  /** Whether every character is one cell wide in a monospaced font. */
  readonly isPlain: boolean
  readonly endsLine: boolean
}

/** Longest drawn text of a token, in UTF-16 units; for a longer one, the number of omitted units follows. */
export const LONGEST = 400

/** Returns the drawing of a token; an id without a known text is drawn as its number. */
export const pieceOf = (id: number, vocab: Vocab): PieceView => pieceView(vocab[id] ?? unknownPiece(id))

/** Returns the drawing of a text or of bytes, cut after `longest` UTF-16 units without splitting a character. */
export function pieceView(entry: VocabEntry, longest = LONGEST): PieceView {
  if (typeof entry !== 'string') return showPiece(bytesView(entry.hex), false)
  if (entry === '') return showPiece('⟨empty⟩', false)
  if (entry.length <= longest) return showPiece(entry, entry.includes('\n'))
  const beginning = beginningOf(entry, longest)
  return showPiece(`${beginning}…⟨${countText(entry.length - beginning.length)} more⟩`, entry.includes('\n'))
}

/** Returns the cells of a text whose characters are all one cell wide; undefined if it has to be measured. */
export const plainCells = (entry: VocabEntry): number | undefined =>
  typeof entry === 'string' && entry !== '' && entry.length <= LONGEST && ONE_CELL_EACH.test(entry)
    ? entry.length
    : undefined

/** Returns the drawing of bytes that are not text by themselves, such as `⟨E6 97⟩`. */
export const bytesView = (hex: string): string => `⟨${(hex.match(/../g) ?? []).join(' ').toUpperCase()}⟩`

function showPiece(source: string, endsLine: boolean): PieceView {
  if (SHOWS_ITSELF.test(source)) return { text: source, marks: blank(source), isPlain: PLAIN.test(source), endsLine }
  let text = ''
  let marks = ''
  for (const { segment } of ASCII.test(source) ? asciiCharacters(source) : characters.segment(source)) {
    const views = EMOJI.test(segment) ? [{ text: segment, mark: blank(segment) }] : Array.from(segment, characterView)
    // A mark without a letter before it in its token would be drawn over the token before.
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
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const ASCII = /^[\x00-\x7f]*$/
/** Matches most tokens: letters, digits and signs that are visible and not combined. */
const SHOWS_ITSELF = /^[[\p{L}\p{N}\p{P}\p{S}]--\p{Default_Ignorable_Code_Point}]*$/v
/** Matches sequences that fonts draw as one sign. Only listed sequences count, since others can contain hidden characters. */
const EMOJI = /^\p{RGI_Emoji}$/v

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })

const asciiCharacters = (source: string) => Array.from(source, (segment) => ({ segment }))

interface CharacterView {
  readonly text: string
  readonly mark: string
}

/** Marks of one cell that fonts for code contain. Most systems show an empty box for U+240D, the sign for CR. */
const VISIBLE: ReadonlyMap<string, CharacterView> = new Map([
  [' ', { text: ' ', mark: '·' }],
  ['\n', { text: ' ', mark: '↵' }],
  ['\t', { text: ' ', mark: '⇥' }],
  ['\r', { text: ' ', mark: '⇤' }],
])

/** Returns the code point of a control, format, invisible or private character, and any other character unchanged. */
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

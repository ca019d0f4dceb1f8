/** How the text of one token is drawn: nothing invisible, nothing that moves its neighbours. */
import { unknownPiece } from '#lib/core/pieces.ts'
import type { Vocab, VocabEntry } from '#lib/core/trajectory.ts'

export interface PieceView {
  /** The text itself, with visible stand-ins for what has no shape of its own. */
  readonly text: string
  /** The same width: marks for spaces, tabs and line ends, blank elsewhere. Drawn fainter, over the text. */
  readonly marks: string
  /** Every character is one cell wide in a monospaced font. */
  readonly isPlain: boolean
  readonly endsLine: boolean
}

/** A text of a token is drawn up to here; of the rest its length is told. */
const LONGEST = 400

/** An id whose text is not known is drawn as its number. */
export const pieceOf = (id: number, vocab: Vocab): PieceView => pieceView(vocab[id] ?? unknownPiece(id))

export function pieceView(entry: VocabEntry): PieceView {
  if (typeof entry !== 'string') return shown(`⟨${(entry.hex.match(/../g) ?? []).join(' ').toUpperCase()}⟩`, false)
  if (entry === '') return shown('⟨empty⟩', false)
  const cut =
    entry.length > LONGEST
      ? `${entry.slice(0, LONGEST)}…⟨${(entry.length - LONGEST).toLocaleString('en')} more⟩`
      : entry
  return shown(cut, entry.includes('\n'))
}

function shown(source: string, endsLine: boolean): PieceView {
  let text = ''
  let marks = ''
  let isPlain = true
  for (const character of source) {
    const view = VISIBLE.get(character) ?? stand(character)
    text += view.text
    marks += view.mark
    isPlain &&= /^[\x20-\x7e]*$/.test(view.text)
  }
  return { text, marks, isPlain, endsLine }
}

interface CharacterView {
  readonly text: string
  readonly mark: string
}

const VISIBLE: ReadonlyMap<string, CharacterView> = new Map([
  [' ', { text: ' ', mark: '·' }],
  ['\n', { text: ' ', mark: '↵' }],
  ['\t', { text: ' ', mark: '⇥' }],
  ['\r', { text: ' ', mark: '␍' }],
])

/** Control, format, invisible and private characters are told by their code point; others stand for themselves. */
function stand(character: string): CharacterView {
  const isInvisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u.test(
    character,
  )
  const text = isInvisible
    ? `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`
    : character
  return { text, mark: ' '.repeat(text.length) }
}

/**
 * The width of each distinct token for one font, in cells of the monospaced font. Widths are in a dense table by id, since a
 * layout reads the width of every token. Texts that are not plain are measured once. If many are new at once, some are
 * estimated first and measured later (`settle`).
 */

import { countText } from '#components/token-view/numbers.ts'
import type { Vocab, VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { enlarge } from '#lib/util/enlarge.ts'
import { bytesView, LONGEST, type PieceView, pieceOf, pieceView, plainCells } from './piece-view.ts'
import { completedCharacter, partBytes, splitCharacterAt } from './split-character.ts'

/** The drawing of one token, with its width in cells. */
export interface DrawnPiece extends PieceView {
  readonly cells: number
}

/** Widths and drawings of all tokens in one font. */
export interface PieceTable {
  /** Returns the table by id: cells, ENDS_LINE and IS_PART. 0 or a missing entry means that `widthOf` has not computed it. */
  readonly widths: () => Uint16Array
  readonly widthOf: (id: number) => number
  /** Returns the cells of a token with IS_PART: its bytes, and the character that it completes. */
  readonly partCells: (ids: ArrayLike<number>, index: number) => number
  /** Returns the drawing of a token in a line of so many columns. */
  readonly piece: (ids: ArrayLike<number>, index: number, columns: number) => DrawnPiece
  /** Returns the tokens, half-open, that share a character with this one; undefined if the token is text by itself. */
  readonly group: (
    ids: ArrayLike<number>,
    index: number,
  ) => { readonly start: number; readonly end: number } | undefined
  /** Replaces the vocabulary, and forgets the widths of texts that changed. */
  readonly takeVocab: (vocab: Vocab) => void
  /** Increases when earlier widths are no longer valid. */
  readonly version: () => number
  /** Measures up to `count` estimated texts; returns false when none are left. */
  readonly settle: (count: number) => boolean
}

/** Flag of a width: the token ends its line. */
export const ENDS_LINE = 1 << 14
/** Flag of a width: the token is bytes of a character, so its width depends on the tokens around it. */
export const IS_PART = 1 << 15
/** Mask of a width: the number of cells. */
export const CELLS = ENDS_LINE - 1

/** Ids from here on are in a map instead of the table, since a file may contain any number as an id. */
const DENSEST = 1 << 21
/** Texts measured between two layouts. The first measurements of a script take longest, because its font is searched for. */
const MEASURED_AT_ONCE = 100

/** Returns an empty table. `measure` returns the width of a text in cells; it is called only for texts that are not plain ASCII. */
export function createPieceTable(measure: (text: string) => number): PieceTable {
  const texts = createTextWidths(measure)
  let vocab: Vocab = {}
  let version = 0
  let widths = new Uint16Array(1 << 12)
  let entries = new Map<number, VocabEntry | undefined>()
  let unknown = new Set<number>()
  let sparse = new Map<number, number>()
  let pieces = new Map<number, DrawnPiece>()
  let parts = new Map<number, Uint8Array>()

  const forget = () => {
    widths.fill(0)
    entries = new Map()
    unknown = new Set()
    sparse = new Map()
    pieces = new Map()
    parts = new Map()
    version++
  }
  /** Forgets an id that has lost its text, so that its width is computed again when a text arrives. */
  const forgetOne = (id: number) => {
    if (id < DENSEST) widths[id] = 0
    for (const known of [entries, sparse, pieces, parts]) known.delete(id)
  }
  const cellsOf = (view: PieceView): number =>
    view.isPlain ? Math.max(1, view.text.length) : Math.min(CELLS, texts.cells(view.text))
  const shownWidth = (id: number, isPart: boolean): number => {
    const view = pieceOf(id, vocab)
    return cellsOf(view) | (view.endsLine ? ENDS_LINE : 0) | (isPart ? IS_PART : 0)
  }
  const widthOf = (id: number): number => {
    const known = (id < DENSEST ? widths[id] : sparse.get(id)) ?? 0
    if (known > 0) return known
    const entry = vocab[id]
    entries.set(id, entry)
    if (entry === undefined) unknown.add(id)
    const isPart = entry !== undefined && typeof entry !== 'string'
    const width = plainWidth(entry) ?? shownWidth(id, isPart)
    if (id >= DENSEST) sparse.set(id, width)
    else {
      if (id >= widths.length) widths = enlarge(widths, id + 1)
      widths[id] = width
    }
    return width
  }
  const bytesById = (id: number): Uint8Array | undefined => {
    if ((widthOf(id) & IS_PART) === 0) return undefined
    const bytes = parts.get(id) ?? partBytes(vocab[id])
    if (bytes) parts.set(id, bytes)
    return bytes
  }
  const partOf = (ids: ArrayLike<number>) => (index: number) => bytesById(elementAt(ids, index))
  const partCells = (ids: ArrayLike<number>, index: number): number => {
    const own = widthOf(elementAt(ids, index)) & CELLS
    const completed = completedCharacter(partOf(ids), index)
    return completed ? own + cellsOf(pieceView(completed.text)) : own
  }
  const whole = (id: number): DrawnPiece => {
    const known = pieces.get(id)
    if (known) return known
    const piece = withCells(pieceOf(id, vocab), widthOf(id) & CELLS, texts.measured)
    pieces.set(id, piece)
    return piece
  }

  return {
    widths: () => widths,
    widthOf,
    partCells,
    piece: (ids, index, columns) => {
      const id = elementAt(ids, index)
      const entry = vocab[id]
      if ((widthOf(id) & IS_PART) !== 0 && entry !== undefined && typeof entry !== 'string') {
        const completed = completedCharacter(partOf(ids), index)
        const text = bytesView(entry.hex) + (completed ? pieceView(completed.text).text : '')
        const view = { text, marks: ' '.repeat(text.length), isPlain: false, endsLine: false }
        return { ...view, cells: Math.min(columns, partCells(ids, index)) }
      }
      const piece = whole(id)
      return piece.cells <= columns ? piece : fitPiece(entry ?? piece.text, piece, columns, texts.measured)
    },
    group: (ids, index) =>
      (widthOf(elementAt(ids, index)) & IS_PART) === 0 ? undefined : splitCharacterAt(partOf(ids), index, ids.length),
    takeVocab: (next) => {
      // The vocabulary of a run is one growing record, so only unknown ids can change. In another record every id may have
      // another text.
      const changedIds = next === vocab ? unknown : entries.keys()
      vocab = next
      for (const id of changedIds) {
        const [before, now] = [entries.get(id), vocab[id]]
        if (now === undefined && before !== undefined) forgetOne(id)
        else if (!sameEntry(before, now)) return forget()
      }
    },
    version: () => version,
    settle: (count) => {
      const { isLeft, isOther } = texts.settle(count)
      if (!isLeft && isOther) forget()
      return isLeft
    },
  }
}

/** Returns the width of a token with plain text, which most tokens have; undefined if its drawing has to be measured. */
function plainWidth(entry: VocabEntry | undefined): number | undefined {
  const cells = entry === undefined ? undefined : plainCells(entry)
  return cells === undefined ? undefined : cells | ((entry as string).includes('\n') ? ENDS_LINE : 0)
}

/** Returns a token that is wider than the line, cut to it and followed by the number of characters left out. */
function fitPiece(
  entry: VocabEntry,
  piece: DrawnPiece,
  columns: number,
  measure: (text: string) => number,
): DrawnPiece {
  const length = typeof entry === 'string' ? entry.length : piece.text.length
  const shownLength = Math.min(length, LONGEST)
  const tail = `…⟨${countText(length)} more⟩`.length
  let visibleLength = Math.max(1, Math.floor((shownLength * Math.max(0, columns - tail)) / piece.cells))
  let view = pieceView(entry, visibleLength)
  while (visibleLength > 1 && measure(view.text) > columns) {
    visibleLength = Math.floor(visibleLength * 0.9)
    view = pieceView(entry, visibleLength)
  }
  return { ...withCells(view, columns, measure), isPlain: false, endsLine: piece.endsLine }
}

/** Moves the mark of each glyph that is not one cell wide to the cell where the glyph begins. */
function withCells(view: PieceView, cells: number, measure: (text: string) => number): DrawnPiece {
  if (view.isPlain || view.marks.trim() === '') return { ...view, cells }
  let marks = ''
  for (let index = 0; index < view.text.length; index++) {
    const mark = view.marks.charAt(index)
    if (mark === ' ') continue
    marks = marks.padEnd(Math.min(cells - 1, Math.round(measure(view.text.slice(0, index))))) + mark
  }
  return { ...view, marks, cells }
}

interface TextWidths {
  /** Width in whole cells. It is measured: estimates by character class alone were wrong by a factor of two in some fonts. */
  readonly cells: (text: string) => number
  readonly measured: (text: string) => number
  readonly settle: (count: number) => { readonly isLeft: boolean; readonly isOther: boolean }
}

/** Returns the widths of texts. An ASCII character is one cell in a monospaced font; runs of other characters are measured. */
function createTextWidths(measure: (text: string) => number): TextWidths {
  const known = new Map<string, number>()
  const estimates = new Map<string, number>()
  let measuredAtOnce = 0
  let isOther = false
  const runWidth = (run: string): number => {
    const found = known.get(run)
    if (found !== undefined) return found
    const width = measure(run)
    known.set(run, width)
    return width
  }
  const total = (text: string, width: (run: string) => number): number => {
    // A combining mark belongs to the letter before it, which may be ASCII.
    if (/\p{M}/u.test(text)) return width(text)
    let cells = text.length
    for (const [run] of text.matchAll(OTHERS)) cells += width(run) - run.length
    return cells
  }
  const estimate = (run: string): number => {
    const found = known.get(run)
    if (found !== undefined) return found
    if (measuredAtOnce < MEASURED_AT_ONCE) {
      measuredAtOnce++
      return runWidth(run)
    }
    const guess = estimates.get(run) ?? estimateWidth(run, runWidth)
    estimates.set(run, guess)
    return guess
  }
  return {
    cells: (text) => Math.max(1, Math.ceil(total(text, estimate) - ROUNDING)),
    measured: (text) => total(text, runWidth),
    settle: (count) => {
      let left = count
      for (const [run, guess] of estimates) {
        if (left-- === 0) return { isLeft: true, isOther: false }
        isOther ||= Math.ceil(runWidth(run) - ROUNDING) !== Math.ceil(guess - ROUNDING)
        estimates.delete(run)
      }
      const settled = { isLeft: false, isOther }
      isOther = false
      measuredAtOnce = 0
      return settled
    },
  }
}

const OTHERS = /[^\x20-\x7e]+/g
/** Excess over whole cells, in cells, that does not reach the next glyph. */
const ROUNDING = 0.05

/** One glyph represents the width of all characters of its script. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/\p{Script=Han}/u, '一'],
  [/[\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u, 'あ'],
  [/\p{Script=Hangul}/u, '가'],
  [/\p{Extended_Pictographic}/u, '🙂'],
  [/\p{Script=Cyrillic}/u, 'ж'],
  [/\p{Script=Greek}/u, 'λ'],
  [/\p{Script=Arabic}/u, 'ع'],
  [/\p{Script=Devanagari}/u, 'क'],
  [/\p{Script=Thai}/u, 'ก'],
]

function estimateWidth(run: string, width: (glyph: string) => number): number {
  let cells = 0
  for (const character of run) {
    const kind = KINDS.find(([pattern]) => pattern.test(character))
    cells += kind ? width(kind[1]) : 1
  }
  return cells
}

const sameEntry = (a: VocabEntry | undefined, b: VocabEntry | undefined): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && a.hex === b.hex)

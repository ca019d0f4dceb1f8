/**
 * One row of the token view: a text node over a gradient. Each token whose glyphs are not one cell wide has a span of fixed
 * width. A row remembers what it shows and paints only what has changed.
 */

import { countText } from '#components/token-view/numbers.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { forcedAt } from '#lib/trajectory/tokens/forced-tokens.ts'
import { isTrained } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt, int32At } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { outermostSpan, spanTitle } from '../card/span-title.ts'
import { openImageIn, paintImageLine } from '../images/image-line.ts'
import type { DrawnPiece } from '../pieces/piece-table.ts'
import { selectedRange } from '../selection.ts'
import { firstRangeAfter, firstRangeStartingAt, type MarkKind } from '../token-marks.ts'
import { cellsOf, type DrawnLine } from './layout.ts'
import { isSameMemory } from './line-store.ts'
import { type BackgroundRun, boundaryLineAfter, joinRuns, type RowMarks, rowBackground } from './row-background.ts'
import { type OverlayMark, rowOverlay } from './row-overlay.ts'
import { createPart, type PooledElement, type RowPicture, setData, setText } from './token-picture.ts'

/** Elements of one row, and what they show. */
export interface TokenRow extends PooledElement {
  readonly text: HTMLElement
  readonly marks: HTMLElement
  readonly label: HTMLElement
  /** Fold button, in the row in which a think block begins. */
  readonly fold: HTMLElement
  painted: Painted | undefined
}

interface Painted {
  readonly line: DrawnLine
  readonly picture: RowPicture
  readonly version: number
  readonly selected: Span | undefined
}

/** Returns new, empty elements for a row. */
export function makeRow(): TokenRow {
  const element = createPart('div', 'token-row')
  element.role = 'row'
  const text = createPart('div', 'token-text')
  text.role = 'gridcell'
  const marks = createPart('div', 'token-marks')
  const label = createPart('span', 'token-label')
  const fold = createPart('button', 'token-fold')
  fold.tabIndex = -1
  fold.textContent = '▾'
  marks.ariaHidden = label.ariaHidden = fold.ariaHidden = 'true'
  element.append(text, marks, label)
  return { element, text, marks, label, fold, painted: undefined }
}

/** Writes a line of tokens into a row. */
export function paintRow(row: TokenRow, line: DrawnLine, picture: RowPicture): void {
  const before = row.painted
  const version = picture.layout.table.version()
  const selected = selectedIn(line, picture)
  row.painted = { line, picture, version, selected }
  placeRow(row.element, line, before?.line)
  const isSame = before !== undefined && hasSameTokens(before, row.painted)
  const isSameBackground =
    isSame && before.picture.reading === picture.reading && before.picture.specialIds === picture.specialIds
  const isSameOverlay =
    isSame &&
    before.picture.marks === picture.marks &&
    before.selected?.start === selected?.start &&
    before.selected?.end === selected?.end
  if (isSame && isSameBackground && isSameOverlay) return
  if (line.isFolded) {
    paintFold(row, line, picture)
    return
  }
  const tokens = tokensInLine(line, picture)
  if (!isSame) paintText(row, line, tokens, picture)
  if (!isSameBackground)
    Object.assign(row.text.style, rowBackground(lineMarks(line, tokens, picture), picture.layout.rowHeight))
  if (!isSameOverlay) paintOverlay(row, line, tokens, picture, selected)
}

/** Returns whether two paintings of a row have the same texts. */
function hasSameTokens(a: Painted, b: Painted): boolean {
  return (
    a.line.start === b.line.start &&
    a.line.end === b.line.end &&
    a.line.isFolded === b.line.isFolded &&
    a.line.layout.firstToken === b.line.layout.firstToken &&
    isSameSegment(a.line.layout.segment, b.line.layout.segment) &&
    a.picture.layout.table === b.picture.layout.table &&
    a.version === b.version &&
    a.picture.layout.columns === b.picture.layout.columns &&
    a.picture.layout.rowHeight === b.picture.layout.rowHeight &&
    a.picture.cell === b.picture.cell &&
    a.picture.options === b.picture.options &&
    a.picture.canFold === b.picture.canFold
  )
}

/** Returns whether the tokens that both segments have are the same: a growing segment is another object after each event. */
function isSameSegment(a: SegmentView, b: SegmentView): boolean {
  if (a === b) return true
  return (
    a.kind === 'response' &&
    b.kind === 'response' &&
    isSameMemory(a.ids, b.ids) &&
    a.thinks === b.thinks &&
    a.toolCalls === b.toolCalls &&
    a.mask === b.mask &&
    a.forced === b.forced &&
    a.finish === b.finish &&
    (a.logprobs !== undefined) === (b.logprobs !== undefined)
  )
}

function placeRow(element: HTMLElement, line: DrawnLine, before: DrawnLine | undefined): void {
  if (line.top !== before?.top) element.style.transform = `translateY(${line.top}px)`
  if (line.number !== before?.number) element.ariaRowIndex = String(line.number + 1)
  const first = line.layout.firstToken + line.start
  const count = line.end - line.start
  if (element.dataset.first !== String(first)) element.dataset.first = String(first)
  if (element.dataset.count !== String(count)) element.dataset.count = String(count)
}

/** A token and where its row shows it. */
export interface TokenInRow {
  /** Offset in the segment. */
  readonly index: number
  readonly id: number
  readonly trained: boolean
  /** Pixels from the left of the row, half-open. */
  readonly from: number
  readonly to: number
}

/** Returns the tokens of a line from left to right. */
export function tokensInLine(
  { layout: { segment }, start, end }: DrawnLine,
  { layout, cell }: RowPicture,
): readonly TokenInRow[] {
  const tokens: TokenInRow[] = []
  let column = 0
  for (let index = start; index < end; index++) {
    const next = column + cellsOf(layout, segment.ids, index)
    tokens.push({
      index,
      id: elementAt(segment.ids, index),
      trained: isTrained(segment, index),
      from: column * cell,
      to: next * cell,
    })
    column = next
  }
  return tokens
}

function paintText(
  row: TokenRow,
  line: DrawnLine,
  tokens: readonly TokenInRow[],
  { layout, options, canFold, trajectory }: RowPicture,
): void {
  const { element, text, marks, label, fold } = row
  const { segment, firstToken } = line.layout
  const span = outermostSpan(segment, line.start, line.end)
  const startsSpan = span !== undefined && span.span.start >= line.start
  setData(element, 'span', span?.kind ?? '')
  setData(element, 'fold', '')
  setData(element, 'ink', tokens.some(({ trained }) => trained) ? 'trained' : 'context')
  setText(label, startsSpan ? spanTitle(span, segment) : '')
  const foldable = canFold
    ? startsSpan && span.kind === 'think'
      ? ({ kind: 'think', start: span.span.start } as const)
      : openImageIn(line, trajectory)
    : undefined
  if (foldable) {
    setData(fold, 'fold', `${foldable.kind} ${firstToken + foldable.start}`)
    fold.title = foldable.kind === 'think' ? 'Fold the think block' : 'Show the image'
    element.append(fold)
  } else fold.remove()

  const pieces = tokens.map(({ index }) => layout.table.piece(segment.ids, index, layout.columns))
  const isUniform = pieces.every(({ isPlain }, at) => isPlain && tokens[at]?.trained === tokens[0]?.trained)
  if (isUniform) setText(text, pieces.map((piece) => piece.text).join(''))
  else text.replaceChildren(...runsOf(tokens, pieces).map(boxOf))
  const glyphs = options.showsWhitespace
    ? pieces.map((piece) => piece.marks.padEnd(piece.cells).slice(0, piece.cells)).join('')
    : ''
  setText(marks, glyphs.trimEnd())
}

function paintFold({ element, text, marks, label, fold }: TokenRow, line: DrawnLine, picture: RowPicture): void {
  const { segment, firstToken, folds } = line.layout
  if (line.image) {
    for (const part of [marks, label]) setText(part, '')
    setData(element, 'span', '')
    setData(element, 'ink', 'context')
    setData(element, 'drift', '')
    setData(element, 'fold', '')
    paintImageLine(text, line, picture, foldedMarks(line, picture))
    for (const { style } of [text, marks]) style.backgroundImage = ''
    fold.remove()
    return
  }
  const isWhole = folds?.whole === true
  const name = isWhole ? picture.reading.title(segment, line.segmentIndex) : 'think'
  setData(element, 'span', isWhole ? '' : 'think')
  setData(element, 'ink', 'context')
  setData(element, 'drift', '')
  setData(element, 'fold', isWhole ? `segment ${line.segmentIndex}` : `think ${firstToken + line.start}`)
  const count = `${countText(line.end - line.start)} tok`
  const range = picture.reading.range?.(segment, line.start, line.end) ?? []
  setText(text, [`▸ ${name}`, count, range, ...foldedMarks(line, picture)].flat().join(' · '))
  setText(marks, '')
  setText(label, '')
  fold.remove()
  for (const { style } of [text, marks]) style.backgroundImage = ''
}

/** Returns the number of marks of each kind in the folded tokens, in words. */
function foldedMarks({ layout: { firstToken }, start, end }: DrawnLine, { marks }: RowPicture): readonly string[] {
  return marks.flatMap(({ kind, ranges }) => {
    const name = FOLDED_NAMES[kind]
    if (name === undefined) return []
    const count = firstRangeStartingAt(ranges, firstToken + end) - firstRangeAfter(ranges, firstToken + start)
    return count > 0 ? [countWithNoun(count, ...name)] : []
  })
}

const FOLDED_NAMES: Readonly<Partial<Record<MarkKind, readonly [string, string]>>> = {
  hit: ['hit', 'hits'],
  drift: ['drift', 'drifts'],
  note: ['note', 'notes'],
}

interface TextRun {
  text: string
  width: number
  readonly trained: boolean
  readonly isPlain: boolean
}

/** Joins adjacent plain tokens of the same ink into one element. */
function runsOf(tokens: readonly TokenInRow[], pieces: readonly DrawnPiece[]): readonly TextRun[] {
  const runs: TextRun[] = []
  for (const [at, { trained, from, to }] of tokens.entries()) {
    const { text, isPlain } = elementAt(pieces, at)
    const last = runs.at(-1)
    if (last && isPlain && last.isPlain && last.trained === trained) {
      last.text += text
      last.width += to - from
    } else runs.push({ text, width: to - from, trained, isPlain })
  }
  return runs
}

function boxOf({ text, width, trained }: TextRun): HTMLElement {
  const box = createPart('span', 'token-box')
  box.dataset.ink = trained ? 'trained' : 'context'
  box.style.width = `${width}px`
  box.textContent = text
  return box
}

/** Returns the marks of a line’s tokens, or of some of them. */
export function lineMarks(
  { layout: { segment, firstToken } }: DrawnLine,
  tokens: readonly TokenInRow[],
  { layout, reading, specialIds, options }: RowPicture,
): RowMarks {
  const heat: BackgroundRun[] = []
  const trained: BackgroundRun[] = []
  const forced: BackgroundRun[] = []
  const special: BackgroundRun[] = []
  const groups: BackgroundRun[] = []
  const bands: BackgroundRun[][] = []
  for (const { index, id, trained: isInMask, from, to } of tokens) {
    const colour = reading.colour(firstToken + index, segment, index)
    if (colour) heat.push({ from, to, colour })
    if (isInMask) trained.push({ from, to, colour: 'var(--trained)' })
    if (forcedAt(segment, index)) forced.push({ from, to, colour: 'var(--warn)' })
    if (specialIds.has(id)) special.push({ from, to, colour: 'var(--special-edge)' })
    const group = layout.table.group(segment.ids, index)
    const last = groups.at(-1)
    if (group && last && last.to === from && group.start < index) groups[groups.length - 1] = { ...last, to }
    else if (group) groups.push({ from, to, colour: 'var(--group-edge)' })
    for (const [band, stripe] of (reading.bands?.(firstToken + index) ?? []).entries()) {
      bands[band] ??= []
      if (stripe) bands[band].push({ from, to, colour: stripe })
    }
  }
  return {
    heat: joinRuns(heat),
    trained: joinRuns(trained),
    forced: joinRuns(forced),
    special,
    boundaries: options.showsBoundaries ? tokens.map(({ to }) => boundaryLineAfter(to)) : [],
    groups,
    bands: bands.map(joinRuns),
  }
}

function paintOverlay(
  { element, marks }: TokenRow,
  line: DrawnLine,
  tokens: readonly TokenInRow[],
  picture: RowPicture,
  selected: Span | undefined,
): void {
  const first = line.layout.firstToken + line.start
  const end = line.layout.firstToken + line.end
  const found: OverlayMark[] = []
  const add = (kind: OverlayMark['kind'], range: Span) => {
    const from = tokens[Math.max(range.start, first) - first]?.from
    const to = tokens[Math.min(range.end, end) - 1 - first]?.to
    if (from !== undefined && to !== undefined)
      found.push({ kind, from, to, begins: range.start >= first, ends: range.end <= end })
  }
  if (selected) add('selected', selectedRange(picture.selection as NonNullable<RowPicture['selection']>))
  for (const { kind, ranges } of picture.marks)
    for (let at = firstRangeAfter(ranges, first); 2 * at < ranges.length && int32At(ranges, 2 * at) < end; at++) {
      const start = int32At(ranges, 2 * at)
      // A cut is before the first token of its range, wherever the range ends.
      if (kind !== 'cut') add(kind, { start, end: int32At(ranges, 2 * at + 1) })
      else if (start >= first) add(kind, { start, end: start + 1 })
    }
  setData(element, 'drift', found.some(({ kind }) => kind === 'drift' || kind === 'gap') ? 'true' : '')
  Object.assign(marks.style, rowOverlay(found, picture.layout.rowHeight))
}

/**
 * Returns the selected tokens of the row, half-open. Returns undefined if there are none, or if the whole selection is one
 * token, which has a box.
 */
function selectedIn(line: DrawnLine, { selection }: RowPicture): Span | undefined {
  if (!selection || selection.anchor === selection.focus) return undefined
  const range = selectedRange(selection)
  const start = Math.max(range.start, line.layout.firstToken + line.start)
  const end = Math.min(range.end, line.layout.firstToken + line.end)
  return start < end ? { start, end } : undefined
}

/**
 * Draws the rows of the token view into a scrolled element: only those in sight, each one text node before a gradient
 * (one fixed-width span for each token where a glyph is not one cell wide). React draws the frame around it.
 */

import { isTrained, spansOf, type Token, type TokenSpan, tokenAt } from '#lib/core/tokens.ts'
import type { SegmentView, TrajectoryView } from '#lib/core/trajectory-view.ts'
import {
  type Layout,
  type Line,
  lineOfToken,
  linesBetween,
  ROW_HEIGHT,
  type SegmentLayout,
  segmentHeight,
} from './layout.ts'
import type { Piece, PieceTable } from './piece-table.ts'
import { joinStretches, rowBackground, type Stretch } from './row-background.ts'
import type { Selection } from './selection.ts'
import type { TokenReading } from './token-reading.ts'

export interface TokenPicture {
  readonly trajectory: TrajectoryView
  readonly layout: Layout
  readonly table: PieceTable
  readonly reading: TokenReading
  /** Width of one cell, in pixels. */
  readonly cell: number
  readonly specialIds: ReadonlySet<number>
  /** Drawn box; undefined = none. */
  readonly pointed: number | undefined
  readonly selection: Selection | undefined
}

export interface TokenPainter {
  /** Draws what is in sight. */
  draw(picture: TokenPicture): void
}

/** Rows drawn above and below what is in sight, so that a flick of the wheel shows no gap. */
const MARGIN = 6 * ROW_HEIGHT

/** `canvas` is as tall as the layout and stands in the scrolled `viewport`. */
export function createTokenPainter(viewport: HTMLElement, canvas: HTMLElement): TokenPainter {
  const rows = createPool(canvas, makeRow)
  const frames = createPool(canvas, makeFrame)
  const pointed = makeBox(canvas, 'token-pointed')
  const selected = makeBox(canvas, 'token-selected')
  selected.firstElementChild?.setAttribute('id', SELECTED_ID)
  return {
    draw(picture) {
      const top = viewport.scrollTop - MARGIN
      const bottom = viewport.scrollTop + viewport.clientHeight + MARGIN
      canvas.style.height = `${picture.layout.height}px`
      const lines = linesBetween(picture.layout, top, bottom)
      rows.show(
        lines.map((line) => line.number),
        (row, index) => paintRow(row, lines[index] as Line, picture),
      )
      const inSight = picture.layout.segments
        .map((layout, index) => ({ layout, index }))
        .filter(({ layout }) => layout.top <= bottom && layout.top + segmentHeight(layout) >= top)
      frames.show(
        inSight.map(({ index }) => index),
        (frame, index) =>
          paintFrame(
            frame,
            (inSight[index] as { layout: SegmentLayout; index: number }).layout,
            inSight[index]?.index ?? 0,
            picture.reading,
          ),
      )
      placeBox(pointed, picture.pointed, picture)
      placeBox(selected, picture.selection?.focus, picture)
    },
  }
}

/** The element that a screen reader is pointed to while the grid has the focus. */
export const SELECTED_ID = 'token-selected'

function makeBox(canvas: HTMLElement, name: string): HTMLElement {
  const row = document.createElement('div')
  row.className = `token-outline ${name}`
  row.setAttribute('role', 'row')
  const cell = document.createElement('div')
  cell.setAttribute('role', 'gridcell')
  row.append(cell)
  canvas.append(row)
  return row
}

function placeBox(box: HTMLElement, tokenIndex: number | undefined, picture: TokenPicture): void {
  const token = tokenIndex === undefined ? undefined : tokenAt(picture.trajectory, tokenIndex)
  const line = token && lineOfToken(picture.layout, token.index)
  box.hidden = !line
  if (!token || !line) return
  const piece = fitted(picture.table.piece(token.id, picture.trajectory.vocab), picture.layout.columns)
  const column = line.layout.columns[token.indexInSegment] ?? 0
  box.style.transform = `translate(${column * picture.cell}px, ${line.top}px)`
  box.style.width = `${piece.cells * picture.cell}px`
  const cell = box.firstElementChild as HTMLElement
  Object.assign(cell.dataset, {
    index: token.index,
    id: token.id,
    trained: token.trained,
    logprob: token.logprob ?? '',
  })
  cell.ariaLabel = tokenName(token, picture)
}

/** What a screen reader says of a token. */
export function tokenName(token: Token, { trajectory, reading }: Pick<TokenPicture, 'trajectory' | 'reading'>): string {
  const entry = trajectory.vocab[token.id]
  const text = typeof entry === 'string' ? JSON.stringify(entry) : entry ? `bytes ${entry.hex}` : 'text not known'
  return `token ${token.index}, ${text}, id ${token.id}, ${reading.fact(token)}`
}

interface Drawn {
  readonly element: HTMLElement
}

interface Pool<D extends Drawn> {
  /** One for each key; those of keys that are gone are used again. */
  show(keys: readonly number[], paint: (drawn: D, index: number) => void): void
}

function createPool<D extends Drawn>(canvas: HTMLElement, make: () => D): Pool<D> {
  const used = new Map<number, D>()
  const free: D[] = []
  return {
    show(keys, paint) {
      const wanted = new Set(keys)
      for (const [key, drawn] of used) {
        if (wanted.has(key)) continue
        used.delete(key)
        free.push(drawn)
      }
      for (const [index, key] of keys.entries()) {
        const known = used.get(key)
        const drawn = known ?? free.pop() ?? make()
        if (!known) used.set(key, drawn)
        if (!drawn.element.isConnected) canvas.append(drawn.element)
        drawn.element.hidden = false
        paint(drawn, index)
      }
      for (const { element } of free) element.hidden = true
    },
  }
}

interface Row extends Drawn {
  readonly text: HTMLElement
  readonly marks: HTMLElement
  readonly label: HTMLElement
}

function makeRow(): Row {
  const element = part('div', 'token-row')
  element.role = 'row'
  const text = part('div', 'token-text')
  text.role = 'gridcell'
  const marks = part('div', 'token-marks')
  const label = part('span', 'token-label')
  marks.ariaHidden = label.ariaHidden = 'true'
  element.append(text, marks, label)
  return { element, text, marks, label }
}

function part(tag: 'div' | 'span', className: string): HTMLElement {
  const element = document.createElement(tag)
  element.className = className
  return element
}

function paintRow({ element: row, text, marks, label }: Row, line: Line, picture: TokenPicture): void {
  const { segment } = line.layout
  const { trajectory, table, cell, layout } = picture
  const tokens = Array.from({ length: line.end - line.start }, (_, offset) => {
    const index = line.start + offset
    const id = segment.ids[index] as number
    return {
      id,
      index,
      piece: fitted(table.piece(id, trajectory.vocab), layout.columns),
      column: line.layout.columns[index] ?? 0,
      trained: isTrained(segment, index),
    }
  })
  const first = line.layout.firstToken + line.start
  row.style.transform = `translateY(${line.top}px)`
  row.dataset.first = String(first)
  row.dataset.count = String(tokens.length)
  row.ariaRowIndex = String(line.number + 1)
  const span = outermostSpan(segment, line.start, line.end)
  row.dataset.span = span?.kind ?? ''
  row.dataset.ink = tokens.some(({ trained }) => trained) ? 'trained' : 'context'
  label.textContent = span && span.span.start >= line.start ? spanTitle(span, segment) : ''

  const isUniform = tokens.every(({ piece, trained }) => piece.isPlain && trained === tokens[0]?.trained)
  if (isUniform) setText(text, tokens.map(({ piece }) => piece.text).join(''))
  else text.replaceChildren(...tokens.map(({ piece, trained }) => tokenBox(piece, trained, cell)))
  setText(marks, tokens.map(({ piece }) => piece.marks.padEnd(piece.cells).slice(0, Math.max(piece.cells, 1))).join(''))

  const stretch = (column: number, piece: Piece, colour: string): Stretch => ({
    from: column * cell,
    to: (column + piece.cells) * cell,
    colour,
  })
  const background = rowBackground({
    heat: joinStretches(
      tokens.flatMap(({ index, piece, column }) => {
        const colour = picture.reading.colour(line.layout.firstToken + index, segment, index)
        return colour ? [stretch(column, piece, colour)] : []
      }),
    ),
    trained: joinStretches(
      tokens.flatMap(({ piece, column, trained }) => (trained ? [stretch(column, piece, 'var(--trained)')] : [])),
    ),
    bands: bandsOf(tokens.map(({ index }) => picture.reading.bands?.(line.layout.firstToken + index) ?? [])).map(
      (band) =>
        joinStretches(
          tokens.flatMap(({ piece, column }, token) => {
            const colour = band[token]
            return colour ? [stretch(column, piece, colour)] : []
          }),
        ),
    ),
    special: tokens.flatMap(({ id, piece, column }) =>
      picture.specialIds.has(id) ? [stretch(column, piece, 'var(--special-edge)')] : [],
    ),
  })
  Object.assign(text.style, background)
}

/** From the stripes of each token to the tokens of each stripe. */
function bandsOf(columns: readonly (readonly (string | undefined)[])[]): readonly (readonly (string | undefined)[])[] {
  return Array.from({ length: columns[0]?.length ?? 0 }, (_, band) => columns.map((column) => column[band]))
}

/** A token wider than the line is cut to it, and says how much is missing. */
function fitted(piece: Piece, columns: number): Piece {
  if (piece.cells <= columns) return piece
  const rest = `…⟨${(piece.text.length - columns).toLocaleString('en')} more⟩`
  const kept = Math.max(0, columns - rest.length)
  return {
    ...piece,
    text: piece.text.slice(0, kept) + rest,
    marks: piece.marks.slice(0, kept),
    cells: columns,
    isPlain: false,
  }
}

function tokenBox(piece: Piece, trained: boolean, cell: number): HTMLElement {
  const box = document.createElement('span')
  box.className = 'token-box'
  box.dataset.ink = trained ? 'trained' : 'context'
  box.style.width = `${piece.cells * cell}px`
  box.textContent = piece.text
  return box
}

function setText(element: HTMLElement, text: string): void {
  if (element.firstElementChild || element.textContent !== text) element.textContent = text
}

const outermostSpan = (segment: SegmentView, start: number, end: number): TokenSpan | undefined =>
  spansOf(segment).find(
    ({ kind, span }) => (kind === 'think' || kind === 'tool-call') && span.start < end && span.end > start,
  )

function spanTitle(span: TokenSpan, segment: SegmentView): string {
  const count = `${span.span.end - span.span.start} tok`
  if (span.kind === 'think')
    return `think · ${count}${span.closed || segment.kind !== 'response' || !segment.finish ? '' : ' · not closed'}`
  if (span.kind !== 'tool-call') return ''
  const { call } = span
  if (call.kind === 'malformed') return `${call.id} · malformed ✗`
  const state = call.result ? ` ${call.result.status === 'success' ? '✓' : '✗'}` : ''
  return `${call.id} · ${call.name}${state}`
}

interface Frame extends Drawn {
  readonly position: HTMLElement
  readonly kind: HTMLElement
  readonly mask: HTMLElement
  readonly length: HTMLElement
}

function makeFrame(): Frame {
  const element = part('div', 'segment-frame')
  element.ariaHidden = 'true'
  const rail = part('div', 'segment-rail')
  const [position, kind, mask, length] = [
    part('div', 'rail-position'),
    part('div', 'rail-kind'),
    part('div', 'rail-mask'),
    part('div', 'rail-length'),
  ]
  rail.append(position, kind, mask, length)
  element.append(rail)
  return { element, position, kind, mask, length }
}

function paintFrame(
  { element, position, kind, mask, length }: Frame,
  layout: SegmentLayout,
  index: number,
  reading: TokenReading,
): void {
  const { segment } = layout
  element.style.top = `${layout.top}px`
  element.style.height = `${segmentHeight(layout)}px`
  element.dataset.segment = String(index)
  element.dataset.kind = segment.kind
  setText(position, `#${index} · ${layout.firstToken}`)
  setText(kind, reading.title(segment, index))
  setText(mask, reading.mask(segment, index))
  setText(length, `${segment.ids.length.toLocaleString('en')} tok`)
}

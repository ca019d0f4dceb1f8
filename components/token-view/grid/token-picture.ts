/** Everything that the token view is drawn from, and what a row of tokens is, wherever it stands. */
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { TokenReading } from '../card/token-reading.ts'
import type { GridOptions } from '../grid-options.ts'
import type { Selection } from '../selection.ts'
import type { TokenMarks } from '../token-marks.ts'
import type { Layout, LineSpace } from './layout.ts'

export interface RowPicture {
  readonly trajectory: TrajectoryView
  readonly layout: LineSpace
  readonly reading: TokenReading
  /** Width of one cell, in pixels. */
  readonly cell: number
  readonly specialIds: ReadonlySet<number>
  readonly selection: Selection | undefined
  readonly marks: readonly TokenMarks[]
  readonly options: GridOptions
  /** Whether there are controls that fold. */
  readonly canFold: boolean
}

export interface TokenPicture extends RowPicture {
  readonly layout: Layout
  /** The token whose box is drawn; undefined = none. */
  readonly pointed: number | undefined
}

/** A drawn thing, kept in a pool. */
export interface Drawn {
  readonly element: HTMLElement
}

export function part(tag: 'div' | 'span' | 'button', className: string): HTMLElement {
  const element = document.createElement(tag)
  element.className = className
  return element
}

/** Writes only what differs: a write costs more than a comparison. */
export function setText(element: HTMLElement, text: string): void {
  if (element.firstElementChild || element.textContent !== text) element.textContent = text
}

export function setData(element: HTMLElement, name: string, value: string): void {
  if (element.dataset[name] !== value) element.dataset[name] = value
}

/** Everything that the token view is drawn from, and the helpers that write it into elements. */
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { TokenReading } from '../card/token-reading.ts'
import type { GridOptions } from '../grid-options.ts'
import type { Selection } from '../selection.ts'
import type { TokenMarks } from '../token-marks.ts'
import type { Layout, LineSpace } from './layout.ts'

/** What a row of tokens is drawn from, in the token view or in a lane. */
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
  /** Whether segments and think blocks have buttons that fold them. */
  readonly canFold: boolean
}

/** What a whole token view is drawn from. */
export interface TokenPicture extends RowPicture {
  readonly layout: Layout
  /** Index of the token whose box is drawn; undefined = none. */
  readonly pointed: number | undefined
}

/** A drawn item of an element pool. */
export interface PooledElement {
  readonly element: HTMLElement
}

/** Returns a new element with this class. */
export function createPart(tag: 'div' | 'span' | 'button', className: string): HTMLElement {
  const element = document.createElement(tag)
  element.className = className
  return element
}

/** Writes a text only if it differs: a write costs more than a comparison. */
export function setText(element: HTMLElement, text: string): void {
  if (element.firstElementChild || element.textContent !== text) element.textContent = text
}

/** Writes a CSS property, such as `top` or `--token-size`, only if it differs. */
export function setStyle(element: HTMLElement, name: string, value: string): void {
  if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value)
}

/** Writes a data attribute only if it differs. */
export function setData(element: HTMLElement, name: string, value: string): void {
  if (element.dataset[name] !== value) element.dataset[name] = value
}

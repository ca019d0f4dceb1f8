/** How the reader likes the token view, kept in the browser; and what is folded away. */

export const FONT_SIZES = [11, 12, 13, 14, 16, 18] as const
export type FontSize = (typeof FONT_SIZES)[number]

export interface GridOptions {
  /** In pixels. */
  readonly fontSize: FontSize
  /** Marks for spaces, tabs and line ends. */
  readonly showsWhitespace: boolean
}

export const DEFAULT_GRID_OPTIONS: GridOptions = { fontSize: 13, showsWhitespace: true }

/** What is folded: segments by their number, think blocks by the index of their first token in the trajectory. */
export interface Folds {
  readonly segments: ReadonlySet<number>
  readonly thinks: ReadonlySet<number>
}

export const NO_FOLDS: Folds = { segments: new Set(), thinks: new Set() }

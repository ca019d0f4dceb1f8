/** Display settings of the token view, which the browser stores, and the folded parts. */

/** Font sizes of the token view, in pixels. */
export const FONT_SIZES = [11, 12, 13, 14, 16, 18] as const
type FontSize = (typeof FONT_SIZES)[number]

/** Display settings of the token view. */
export interface GridOptions {
  /** Size of the font, in pixels. */
  readonly fontSize: FontSize
  /** Whether spaces, tabs and line ends have marks. */
  readonly showsWhitespace: boolean
  /** Whether a thin line follows each token. */
  readonly showsBoundaries: boolean
}

/** Settings of a reader who has changed nothing. */
export const DEFAULT_GRID_OPTIONS: GridOptions = { fontSize: 13, showsWhitespace: true, showsBoundaries: false }

/** Returns the distance from one line to the next, in whole pixels, so that rows are sharp. */
export const rowHeightOf = (fontSize: number): number => Math.round(1.85 * fontSize)

/** The entry of the browser's storage that keeps the display settings; a wrong field falls back to its default. */
export const GRID_OPTIONS = {
  name: 'token-view',
  usual: DEFAULT_GRID_OPTIONS,
  read(stored: unknown): GridOptions | undefined {
    if (typeof stored !== 'object' || stored === null) return undefined
    const { fontSize, showsWhitespace, showsBoundaries } = stored as Partial<Record<keyof GridOptions, unknown>>
    return {
      fontSize: FONT_SIZES.find((size) => size === fontSize) ?? DEFAULT_GRID_OPTIONS.fontSize,
      showsWhitespace: typeof showsWhitespace === 'boolean' ? showsWhitespace : DEFAULT_GRID_OPTIONS.showsWhitespace,
      showsBoundaries: typeof showsBoundaries === 'boolean' ? showsBoundaries : DEFAULT_GRID_OPTIONS.showsBoundaries,
    }
  },
}

/** Returns the settings with the next larger or smaller font size; unchanged if there is none. */
export function resizeText(options: GridOptions, step: 1 | -1): GridOptions {
  return { ...options, fontSize: FONT_SIZES[FONT_SIZES.indexOf(options.fontSize) + step] ?? options.fontSize }
}

/** The folded parts: segments by their index, think blocks by the index of their first token in the trajectory. */
export interface Folds {
  readonly segments: ReadonlySet<number>
  readonly thinks: ReadonlySet<number>
  /** Images whose tokens are shown, by the index of their first token. Other images are boxes. If omitted, all are. */
  readonly openImages?: ReadonlySet<number>
}

/** Nothing is folded. */
export const NO_FOLDS: Folds = { segments: new Set(), thinks: new Set() }

/** How the reader likes the token view, kept in the browser; and what is folded away. */

export const FONT_SIZES = [11, 12, 13, 14, 16, 18] as const
type FontSize = (typeof FONT_SIZES)[number]

export interface GridOptions {
  /** In pixels. */
  readonly fontSize: FontSize
  /** Marks for spaces, tabs and line ends. */
  readonly showsWhitespace: boolean
  /** A thin line after each token. */
  readonly showsBoundaries: boolean
}

export const DEFAULT_GRID_OPTIONS: GridOptions = { fontSize: 13, showsWhitespace: true, showsBoundaries: false }

/** Pixels from one line to the next: whole ones, so that rows stay sharp. */
export const rowHeightOf = (fontSize: number): number => Math.round(1.85 * fontSize)

/** As it is kept in the browser. */
export const GRID_OPTIONS = {
  name: 'token-view',
  usual: DEFAULT_GRID_OPTIONS,
  read(kept: unknown): GridOptions | undefined {
    if (typeof kept !== 'object' || kept === null) return undefined
    const { fontSize, showsWhitespace, showsBoundaries } = kept as Partial<Record<keyof GridOptions, unknown>>
    return {
      fontSize: FONT_SIZES.find((size) => size === fontSize) ?? DEFAULT_GRID_OPTIONS.fontSize,
      showsWhitespace: typeof showsWhitespace === 'boolean' ? showsWhitespace : DEFAULT_GRID_OPTIONS.showsWhitespace,
      showsBoundaries: typeof showsBoundaries === 'boolean' ? showsBoundaries : DEFAULT_GRID_OPTIONS.showsBoundaries,
    }
  },
}

/** The next larger or smaller size; the same where there is none. */
export function resized(options: GridOptions, step: 1 | -1): GridOptions {
  return { ...options, fontSize: FONT_SIZES[FONT_SIZES.indexOf(options.fontSize) + step] ?? options.fontSize }
}

/** What is folded: segments by their number, think blocks by the index of their first token in the trajectory. */
export interface Folds {
  readonly segments: ReadonlySet<number>
  readonly thinks: ReadonlySet<number>
}

export const NO_FOLDS: Folds = { segments: new Set(), thinks: new Set() }

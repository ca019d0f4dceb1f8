/** What every part of the inspector shares: the trajectory, the selection, the marks, and the view that the address stores. */

import type { RefObject } from 'react'
import type { TokenReading } from '#components/token-view/card/token-reading.ts'
import type { Colouring } from '#components/token-view/colour/colouring.ts'
import type { GridControl } from '#components/token-view/grid/grid-control.ts'
import type { Folds } from '#components/token-view/grid-options.ts'
import type { Selection } from '#components/token-view/selection.ts'
import type { MarkKind, TokenMarks } from '#components/token-view/token-marks.ts'
import type { RunInspection } from '#lib/analysis/tasks.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import type { TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { RegisterPanelCommand } from './selection/panel-commands.ts'

/** Tabs of the inspector, as in the address. */
export const INSPECTOR_TABS = ['tokens', 'messages', 'requests', 'charts', 'trainer', 'raw'] as const
/** Name of a tab in the address. */
export type InspectorTab = (typeof INSPECTOR_TABS)[number]

/** Titles of the tabs on screen. */
export const TAB_TITLES: Readonly<Record<InspectorTab, string>> = {
  tokens: 'Tokens',
  messages: 'Messages',
  requests: 'Requests',
  charts: 'Charts',
  trainer: 'Trainer',
  raw: 'Raw',
}

/** The view that the address stores; a copied link restores exactly this. `undefined` means that the address lacks the name. */
export interface InspectorView {
  readonly tab: InspectorTab
  /** Name of a colour mode as in colour/modes.ts, such as `logprob`, or `column:` and the name of a column. */
  readonly colour: string
  /** End of the colour scale in the unit of the mode; undefined means p95 of trained tokens. */
  readonly limit: number | undefined
  readonly selection: Selection | undefined
  /** The query of the find bar. */
  readonly find: string
  /** Columns of the scatter plot, `x,y`. */
  readonly scatter: string | undefined
  /** Thresholds of the corrections of importance ratios, as lib/analysis/ratios/thresholds.ts writes them; undefined means the defaults. */
  readonly clip: string | undefined
  /** Columns of logprobs that are compared, as `ratioPairText` writes them; undefined means the trainer’s and the sampled ones. */
  readonly pair: string | undefined
  /** Format whose arrays the Trainer tab shows. */
  readonly format: string | undefined
}

/** State and actions that all parts of the inspector share. */
export interface Inspection {
  readonly trajectory: TrajectoryView
  /** Key of the stored trajectory; undefined if it is not stored. */
  readonly storedKey: string | undefined
  readonly view: InspectorView
  readonly onView: (change: Partial<InspectorView>) => void
  /**
   * Selects tokens and scrolls them into view; undefined clears the selection. With `tab`, shows the Tokens tab and moves
   * the focus there, unless the focus is in a field.
   */
  readonly onSelect: (selection: Selection | undefined, tab?: 'tokens') => void
  /** Index of the token under the pointer in the grid, after a short rest there. */
  readonly pointed: number | undefined
  /** Marks the tokens of what is under the pointer outside the grid; undefined clears the marks. */
  readonly onPointAt: (tokens: Span | undefined) => void
  /** Runs a task of lib/analysis/tasks.ts in the worker. */
  readonly run: RunInspection
  /** Current colours of the tokens; `reading` presents the trajectory with them. */
  readonly colouring: Colouring
  readonly reading: TokenReading
  readonly marks: readonly TokenMarks[]
  /** Replaces the marks of a kind; undefined means that they are unknown. */
  readonly onMarks: (kind: MarkKind, ranges: Int32Array | undefined) => void
  readonly folds: Folds
  readonly onFolds: (folds: Folds) => void
  /** Tokens that the grid shows, half-open; undefined before it is drawn. */
  readonly inSight: Span | undefined
  /** Access to the token view; null before it is mounted. */
  readonly grid: RefObject<GridControl | null>
  /** Registers an action of a part for keys and the palette, through `usePanelCommand`. The function never changes. */
  readonly offer: RegisterPanelCommand
  /** Shows a message in the status line, which screen readers announce. */
  readonly say: (message: string) => void
  /** Compares the trajectory with what a pipeline that keeps its text or its messages would produce; undefined if it has no address yet. */
  readonly onCompare: ((mode: 'text' | 'messages') => void) | undefined
  /** Maximum length of a sample as set for the trainer; null means no limit. */
  readonly trainerCut: TrainerCut | null
  readonly onTrainerCut: (cut: TrainerCut | null) => void
  /** Saves a text or bytes as a file; JSON unless `type` says otherwise. */
  readonly onSave: (content: string | Uint8Array, name: string, type?: string) => void
}

/** Props of every part of the inspector. */
export interface InspectorPartProps {
  readonly inspection: Inspection
}

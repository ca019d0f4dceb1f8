/** What every part of the inspector gets: the trajectory, what is chosen in it, and what the address says of the view. */

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

export const INSPECTOR_TABS = ['tokens', 'messages', 'requests', 'charts', 'trainer', 'raw'] as const
export type InspectorTab = (typeof INSPECTOR_TABS)[number]

export const TAB_TITLES: Readonly<Record<InspectorTab, string>> = {
  tokens: 'Tokens',
  messages: 'Messages',
  requests: 'Requests',
  charts: 'Charts',
  trainer: 'Trainer',
  raw: 'Raw',
}

/** What the address says: a copied link restores exactly this. Undefined: the name is not in the address. */
export interface InspectorView {
  readonly tab: InspectorTab
  /** What tokens are coloured by: a name of colour.ts, or `column:` and the name of a column. */
  readonly colour: string
  /** Where the colour scale ends, in the unit of what is shown; undefined: at p95 of trained tokens. */
  readonly limit: number | undefined
  readonly selection: Selection | undefined
  /** What is looked for, as typed. */
  readonly find: string
  /** Columns of the scatter chart, `x,y`. */
  readonly scatter: string | undefined
  /** Format whose arrays the trainer tab shows. */
  readonly format: string | undefined
}

export interface Inspection {
  readonly trajectory: TrajectoryView
  /** Undefined for one that is not stored. */
  readonly storedKey: string | undefined
  readonly view: InspectorView
  readonly onView: (change: Partial<InspectorView>) => void
  /**
   * Chooses tokens and brings them into sight; undefined lets go. Shows the Tokens tab only where `tab` says so, and takes
   * the focus there unless it is in a field.
   */
  readonly onSelect: (selection: Selection | undefined, tab?: 'tokens') => void
  /** The token under the pointer in the grid, after it has rested there a moment. */
  readonly pointed: number | undefined
  /** Tokens of what the pointer rests on elsewhere are marked in grid and minimap; undefined: none. */
  readonly onPointAt: (tokens: Span | undefined) => void
  /** Runs a task of lib/analysis/tasks.ts in the worker. */
  readonly run: RunInspection
  /** What tokens are coloured by; `reading` draws it. */
  readonly colouring: Colouring
  readonly reading: TokenReading
  readonly marks: readonly TokenMarks[]
  /** Replaces the marks of a kind; undefined: they are not known. */
  readonly onMarks: (kind: MarkKind, ranges: Int32Array | undefined) => void
  readonly folds: Folds
  readonly onFolds: (folds: Folds) => void
  /** Tokens in sight in the grid, half-open; undefined before it is drawn. */
  readonly inSight: Span | undefined
  /** The token view: its layout, what is in sight, and how to move it. null before it is there. */
  readonly grid: RefObject<GridControl | null>
  /** What a part can do on a key or by the palette: `useOffer`. The same function for as long as the screen is there. */
  readonly offer: RegisterPanelCommand
  /** Says something in the status line, aloud to screen readers too: `link copied`. */
  readonly say: (message: string) => void
  /**
   * Shows the trajectory beside what a pipeline would have of it that keeps its text or its messages; undefined: it has no
   * address yet.
   */
  readonly onCompare: ((kept: 'text' | 'messages') => void) | undefined
  /** Trainer’s maximum length of a sample, as the reader has set it; null: all of it. */
  readonly trainerCut: TrainerCut | null
  readonly onTrainerCut: (cut: TrainerCut | null) => void
  /** Gives the user a file of JSON. */
  readonly onSave: (text: string, name: string) => void
}

/** A part of the inspector. */
export interface InspectorPartProps {
  readonly inspection: Inspection
}

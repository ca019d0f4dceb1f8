/** What covers the text of a row, as CSS gradients: the selection and the marks. */

import type { MarkKind } from '../token-marks.ts'
import {
  type BackgroundRun,
  type BackgroundStyle,
  HEAT_TOP,
  heatHeight,
  joinRuns,
  type Layer,
  layer,
  stackLayers,
} from './row-background.ts'

/** A mark of one row. */
export interface OverlayMark {
  readonly kind: MarkKind | 'selected'
  /** Pixels from the left of the row, half-open. */
  readonly from: number
  readonly to: number
  /** Whether the marked range begins or ends in this row: its outline is closed there. */
  readonly begins: boolean
  readonly ends: boolean
}

/** Returns the CSS of the marks over a row that is `row` pixels high. */
export function rowOverlay(marks: readonly OverlayMark[], row: number): BackgroundStyle {
  const byKind = Map.groupBy(marks, ({ kind }) => kind)
  return stackLayers(
    KINDS.flatMap((kind) => {
      const ofKind = byKind.get(kind)
      return ofKind ? LOOKS[kind](ofKind, row) : []
    }),
  )
}

type Look = (marks: readonly OverlayMark[], row: number) => readonly (Layer | undefined)[]

const LOOKS: Readonly<Record<OverlayMark['kind'], Look>> = {
  cut: (marks, row) => [uprights(marks, 'var(--mark-cut)', row, 0, ({ from }) => [from - 1])],
  edge: (marks, row) => [
    uprights(marks, 'var(--trained)', row, 1, ends(2)),
    hooks(marks, '0 1px'),
    hooks(marks, `0 ${row - 3}px`),
  ],
  current: (marks, row) => [...outline(marks, 'var(--mark-current)', row, 2), tint(marks, 'var(--mark-current)', 20)],
  hit: (marks, row) => outline(marks, 'var(--mark-hit)', row, 1),
  gap: (marks, row) => [
    uprights(marks, 'var(--bad)', row, 1, ({ to, ends: isEnd }) => (isEnd ? [to - 1] : [])),
    layer(caps(marks), '100% 2px', '0 1px'),
    layer(caps(marks), '100% 2px', `0 ${row - 3}px`),
  ],
  note: (marks, row) => [
    layer(runsOfColour(marks, 'var(--mark-note)'), '100% 2px', '0 0'),
    uprights(marks, 'var(--mark-note)', row, 0, ({ from, begins }) => (begins ? [from] : [])),
  ],
  dropped: (marks, row) => outline(marks, 'var(--bad)', row, 2),
  drift: (marks, row) => outline(marks, 'var(--bad)', row, 1),
  selected: (marks, row) => frame(marks, 'var(--selected)', row),
  linked: (marks) => [tint(marks, 'var(--mark-linked)', 24)],
}

/** Kinds in the order of the layers, the top layer first. */
const KINDS = Object.keys(LOOKS) as readonly OverlayMark['kind'][]

/** Joins adjacent marks, since the cost of a gradient depends on its stops. */
const runsOfColour = (marks: readonly OverlayMark[], colour: string): BackgroundRun[] =>
  joinRuns(marks.map(({ from, to }) => ({ from, to, colour })))

function outline(marks: readonly OverlayMark[], colour: string, row: number, width: number): (Layer | undefined)[] {
  const above = layer(runsOfColour(marks, colour), `100% ${width}px`, '0 0')
  return [above, above && { ...above, position: '0 100%' }, uprights(marks, colour, row, 0, ends(width), width)]
}

/**
 * Frames the selection around the heat and between it and the underline of trained tokens, so that it covers neither. A tint
 * would look like another heat.
 */
const frame = (marks: readonly OverlayMark[], colour: string, row: number): (Layer | undefined)[] => [
  layer(runsOfColour(marks, colour), `100% ${HEAT_TOP}px`, '0 0'),
  layer(runsOfColour(marks, colour), '100% 1px', `0 ${HEAT_TOP + heatHeight(row)}px`),
  layer(joinRuns(sidesOf(marks, ends(2), colour, 2)), `100% ${HEAT_TOP + heatHeight(row)}px`, '0 0'),
]

/** Returns a function that gives the left edges of an outline's closed sides. */
const ends =
  (width: number) =>
  ({ from, to, begins, ends: isEnd }: OverlayMark): number[] => [
    ...(begins ? [from] : []),
    ...(isEnd ? [to - width] : []),
  ]

function uprights(
  marks: readonly OverlayMark[],
  colour: string,
  row: number,
  inset: number,
  places: (mark: OverlayMark) => readonly number[],
  width = 2,
): Layer | undefined {
  return layer(joinRuns(sidesOf(marks, places, colour, width)), `100% ${row - 2 * inset}px`, `0 ${inset}px`)
}

const sidesOf = (
  marks: readonly OverlayMark[],
  places: (mark: OverlayMark) => readonly number[],
  colour: string,
  width: number,
): BackgroundRun[] =>
  marks.flatMap(places).map((from) => ({ from: Math.max(0, from), to: Math.max(0, from) + width, colour }))

/** Returns the short arms of a bracket around the first and the last trained token. */
function hooks(marks: readonly OverlayMark[], position: string): Layer | undefined {
  const arms = marks.flatMap(({ from, to, begins, ends }) => [
    ...(begins ? [{ from, to: Math.min(from + HOOK, to) }] : []),
    ...(ends ? [{ from: Math.max(begins ? from + HOOK : from, to - HOOK), to }] : []),
  ])
  return layer(
    arms.filter(({ from, to }) => to > from).map((arm) => ({ ...arm, colour: 'var(--trained)' })),
    '100% 2px',
    position,
  )
}

const HOOK = 5

/** Returns the upper and lower end of the caret that marks missing tokens. */
const caps = (marks: readonly OverlayMark[]): BackgroundRun[] =>
  marks.filter(({ ends }) => ends).map(({ to }) => ({ from: Math.max(0, to - 4), to: to + 2, colour: 'var(--bad)' }))

const tint = (marks: readonly OverlayMark[], colour: string, percent: number): Layer | undefined =>
  layer(runsOfColour(marks, `color-mix(in srgb, ${colour} ${percent}%, transparent)`), '100% 100%', '0 0')

'use client'
/** Importance ratios as all panes of the inspector show them: the report of the worker, the thresholds, and what they do. */
import { useMemo } from 'react'
import { useViewState } from '#components/shell/view-state.ts'
import { single } from '#components/token-view/selection.ts'
import type { TokenMarks } from '#components/token-view/token-marks.ts'
import { firstOutlier, type Jump } from '#lib/analysis/ratios/jump.ts'
import { type Outliers, outliersOf } from '#lib/analysis/ratios/outliers.ts'
import type { RatioReport } from '#lib/analysis/ratios/report.ts'
import {
  type CorrectionEffect,
  correctionEffect,
  type RatioThresholds,
  readThresholds,
  type ThresholdName,
  thresholdsText,
  withThreshold,
} from '#lib/analysis/ratios/thresholds.ts'
import { readRatioPair } from '#lib/trajectory/scoring/log-ratios.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Inspection } from '../inspection.ts'
import { usePanelCommand } from '../selection/panel-commands.ts'
import { useInspectTask } from '../use-inspect-task.ts'

/** Ratios with the thresholds of the address. */
export interface Ratios {
  readonly report: RatioReport
  readonly thresholds: RatioThresholds
  readonly effect: CorrectionEffect
  readonly outliers: Outliers
  /** The main finding; undefined if there is none. */
  readonly jump: Jump | undefined
  readonly onThreshold: (name: ThresholdName, value: number) => void
}

/** State of the ratios. `off`: another colour is shown. `absent`: the trajectory has no trainer’s logprobs. */
export type RatiosState =
  | { readonly kind: 'off' | 'loading' | 'absent' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'shown'; readonly ratios: Ratios }

/** Returns the ratios while the tokens are coloured by them, and registers the key that goes to the main finding. */
export function useRatios(inspection: Inspection): RatiosState {
  const { trajectory, marks, view, onView, onSelect, offer, colouring } = inspection
  const isOn = colouring.mode.name === 'ratio'
  const drift = marks.find(({ kind }) => kind === 'drift')?.ranges
  const answer = useInspectTask(inspection, 'ratioReport', { drift }, { isOn })
  const report = answer.kind === 'done' ? answer.result : answer.kind === 'running' ? answer.before : undefined
  const thresholds = useMemo(() => readThresholds(view.clip), [view.clip])
  const ratios = useMemo(
    () => (report ? ratiosAt(report, thresholds, { trajectory, drift }) : undefined),
    [report, thresholds, trajectory, drift],
  )
  const jumpToken = ratios?.jump?.token
  usePanelCommand(
    offer,
    'main-finding',
    isOn && jumpToken !== undefined ? () => onSelect(single(jumpToken), 'tokens') : undefined,
  )
  if (!isOn) return { kind: 'off' }
  if (answer.kind === 'failed') return { kind: 'failed', message: answer.error.message }
  if (!ratios) return { kind: answer.kind === 'done' ? 'absent' : 'loading' }
  return {
    kind: 'shown',
    ratios: {
      ...ratios,
      onThreshold: (name, value) => onView({ clip: thresholdsText(withThreshold(thresholds, name, value)) }),
    },
  }
}

/** Returns the trajectory with the columns whose ratio the address names; unchanged if it names none. */
export function useRatioPair(trajectory: TrajectoryView): TrajectoryView {
  const { pair } = useViewState().view
  return useMemo(() => {
    const ratioPair = pair === undefined ? undefined : readRatioPair(pair)
    if (!ratioPair) return trajectory
    // Colours and charts keep the numbers of a segment by its identity, so that these segments have their own.
    return { ...trajectory, ratioPair, segments: trajectory.segments.map((segment) => ({ ...segment })) }
  }, [trajectory, pair])
}

function ratiosAt(
  report: RatioReport,
  thresholds: RatioThresholds,
  evidence: Parameters<typeof outliersOf>[2],
): Omit<Ratios, 'onThreshold'> {
  return {
    report,
    thresholds,
    effect: correctionEffect(report.order, report.totals?.geometricMean ?? 1, thresholds),
    outliers: outliersOf(report, thresholds, evidence),
    jump: report.jump ?? firstOutlier(report, thresholds, evidence),
  }
}

/** Returns the marks with those of the tokens that IcePop leaves out. */
export function withDropped(marks: readonly TokenMarks[], state: RatiosState): readonly TokenMarks[] {
  if (state.kind !== 'shown') return marks
  const dropped = state.ratios.outliers.outliers
    .flatMap(({ token, fate }) => (fate === 'dropped' ? [token] : []))
    .sort((a, b) => a - b)
  return [...marks, { kind: 'dropped', ranges: Int32Array.from(dropped.flatMap((token) => [token, token + 1])) }]
}

'use client'
/** The page's side of the compare worker: runs the tasks of lib/analysis/compare. */
import { useEffect, useState } from 'react'
import type { CompareStep, ComparisonResult } from '#lib/analysis/compare/compare-sides.ts'
import { unpackComparison } from '#lib/analysis/compare/sent-comparison.ts'
import { neededTokenizer } from '#lib/analysis/compare/shown-side.ts'
import type { Side, TemplateChoice } from '#lib/analysis/compare/side.ts'
import type { RunComparison, SideRequest } from '#lib/analysis/compare/tasks.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import {
  createTrajectoryNames,
  type FetchTokenizer,
  fetchTokenizer,
  tokenizerResource,
  trajectoryResource,
} from './resources.ts'
import { createLane, type LaneDeps } from './task-lane.ts'

interface ComparingWorker {
  /** Rejects with TaskError, ApiError, or the signal's reason. */
  readonly run: RunComparison
  /** Removes a trajectory that no page shows any more from the worker. */
  release(trajectory: TrajectoryView): void
  /** Ends the worker and its running tasks; a later run starts another worker. */
  dispose(): void
}

interface ComparingDeps extends LaneDeps {
  readonly fetchTokenizer: FetchTokenizer
}

const inBrowser: ComparingDeps = {
  // Bundlers recognize exactly this expression.
  createWorker: () => new Worker(new URL('./compare-worker.ts', import.meta.url), { type: 'module' }),
  fetchTokenizer,
  stepMs: 60_000,
  cancelledStepMs: 10_000,
  tooLongHint: 'The trajectories may be too long to compare here, or the template renders too slowly.',
}

interface RunOptions {
  readonly trajectories: readonly TrajectoryView[]
  readonly tokenizers: readonly string[]
  readonly signal: AbortSignal
  readonly onProgress?: (progress: never) => void
}

/** Returns the compare worker, which starts with its first task. */
export function createCompareWorker({ fetchTokenizer, ...lane }: ComparingDeps = inBrowser): ComparingWorker {
  const worker = createLane(lane)
  const nameOf = createTrajectoryNames()
  return {
    run: ((name: string, request: unknown, { trajectories, tokenizers, signal, onProgress }: RunOptions) =>
      worker.run(name, request, {
        resources: [
          ...trajectories.map((trajectory) => trajectoryResource(nameOf(trajectory), trajectory)),
          ...tokenizers.map((tokenizer) => tokenizerResource(tokenizer, fetchTokenizer)),
        ],
        signal,
        onProgress,
      })) as RunComparison,
    release: (trajectory) => worker.release(nameOf(trajectory)),
    dispose: () => worker.stop(),
  }
}

/** A chosen side with its trajectory. */
export interface SideWithTrajectory {
  readonly side: Side
  readonly trajectory: TrajectoryView
}

interface PairOptions {
  /** Returns the text of a chosen template. Throws ApiError, or the signal's reason. */
  readonly templateOf: (choice: TemplateChoice, of: TrajectoryView, signal: AbortSignal) => Promise<string>
  readonly signal: AbortSignal
  readonly onStep: (step: CompareStep) => void
}

/** Compares both sides in the worker. Rejects as `run` does. */
export async function comparePair(
  run: RunComparison,
  { left, right }: { readonly left: SideWithTrajectory; readonly right: SideWithTrajectory },
  { templateOf, signal, onStep }: PairOptions,
): Promise<ComparisonResult> {
  const tokenizers: string[] = []
  const requests: SideRequest[] = []
  for (const [index, { side, trajectory }] of [left, right].entries()) {
    const needed = neededTokenizer(trajectory, side.as)
    if (!needed.ok) return { ...needed, side: index === 0 ? 'left' : 'right' }
    const choice = 'template' in side.as ? side.as.template : undefined
    requests.push({
      as: side.as,
      trajectory: index,
      ...(needed.value !== undefined && { tokenizer: tokenizers.push(needed.value) - 1 }),
      ...(choice && { template: await templateOf(choice, trajectory, signal) }),
    })
  }
  const originals = { left: left.trajectory, right: right.trajectory }
  const sent = await run(
    'compare',
    { left: elementAt(requests, 0), right: elementAt(requests, 1) },
    { trajectories: [originals.left, originals.right], tokenizers, signal, onProgress: onStep },
  )
  return unpackComparison(sent, originals)
}

/** Returns the compare worker of a page, which starts with the first task and ends with the page. */
export function useComparing(): ComparingWorker {
  const [comparing] = useState(() => createCompareWorker())
  useEffect(() => () => comparing.dispose(), [comparing])
  return comparing
}

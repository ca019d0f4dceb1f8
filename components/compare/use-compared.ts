'use client'
/** Loads, makes and compares both sides of the compare page; a worker makes and compares them. */
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { CompareStep, ComparisonResult, SideName } from '#lib/analysis/compare/compare-sides.ts'
import { exampleName, type Side, sideText, type TemplateChoice } from '#lib/analysis/compare/side.ts'
import { exampleOptions, followedTrajectoryOptions } from '#lib/browser/queries.ts'
import { comparePair, useComparing } from '#lib/browser/workers/comparison.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ShownPair } from './view.ts'

/** State of a comparison. */
export type ComparedState =
  /** At least one side is not chosen. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running'; readonly step: 'reading' | CompareStep }
  /** `side` is the side that failed; undefined if unknown. */
  | { readonly kind: 'failed'; readonly error: Error; readonly side: SideName | undefined }
  | { readonly kind: 'refused'; readonly refusal: Extract<ComparisonResult, { ok: false }> }
  | { readonly kind: 'done'; readonly pair: ShownPair }

/** Loading state of a side's trajectory. */
export interface SideSource {
  readonly trajectory: TrajectoryView | undefined
  readonly error: Error | null
  /** Time of the last load; a different value means that the key has a different trajectory. */
  readonly version: number
}

/** Loads the trajectory of a side: a stored one, which is read again while it is running, or an example. */
export function useSource(side: Side | undefined): SideSource {
  const example = side && exampleName(side.key)
  const stored = useQuery(followedTrajectoryOptions(example === undefined ? side?.key : undefined))
  const shipped = useQuery(exampleOptions(example))
  const { data, error, dataUpdatedAt } = example === undefined ? stored : shipped
  return { trajectory: data, error, version: dataUpdatedAt }
}

interface SourcedSide {
  readonly side: Side | undefined
  readonly source: SideSource
}

/** Compares two sides once both are loaded, and again whenever one changes. */
export function useCompared(left: SourcedSide, right: SourcedSide): ComparedState {
  const { run, release } = useComparing()
  const cache = useQueryClient()
  const [step, setStep] = useState<CompareStep>()
  useReleased(left.source.trajectory, release)
  useReleased(right.source.trajectory, release)
  const templateOf = async (choice: TemplateChoice, of: TrajectoryView, signal: AbortSignal) => {
    const { chosenTemplateText } = await import('#lib/browser/templates/chosen-template.ts')
    const trajectory = (key: string) => {
      const example = exampleName(key)
      return example === undefined
        ? cache.fetchQuery(followedTrajectoryOptions(key))
        : cache.fetchQuery(exampleOptions(example))
    }
    return chosenTemplateText(choice, of.model.tools.length > 0, { trajectory, signal })
  }
  const sides = chosenOf(left, right)
  const names = [left.side && sideText(left.side), right.side && sideText(right.side)]
  const { data, error } = useQuery({
    queryKey: ['compared', ...names, left.source.version, right.source.version],
    queryFn: sides
      ? ({ signal }) => {
          setStep(undefined)
          return comparePair(run, sides, { templateOf, signal, onStep: setStep })
        }
      : skipToken,
    // The last comparison of the same sides stays while a run that has grown is compared again.
    placeholderData: (last, query) => (names.every((name, at) => name === query?.queryKey[at + 1]) ? last : undefined),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    retry: false,
  })
  // Load errors are first: they are the reason why the other side has no counterpart.
  if (left.source.error) return { kind: 'failed', error: left.source.error, side: 'left' }
  if (right.source.error) return { kind: 'failed', error: right.source.error, side: 'right' }
  // A side that is not chosen becomes the counterpart of the other one, once that is loaded.
  const isReading = [left, right].some(({ side, source }) => side && !source.trajectory)
  if (!left.side || !right.side) return isReading ? { kind: 'running', step: 'reading' } : { kind: 'waiting' }
  if (error) return { kind: 'failed', error, side: undefined }
  if (!data) return { kind: 'running', step: step ?? 'reading' }
  if (!data.ok) return { kind: 'refused', refusal: data }
  return { kind: 'done', pair: { left: left.side, right: right.side, compared: data.value } }
}

function chosenOf(left: SourcedSide, right: SourcedSide) {
  const [leftTrajectory, rightTrajectory] = [left.source.trajectory, right.source.trajectory]
  if (!left.side || !right.side || !leftTrajectory || !rightTrajectory) return undefined
  return {
    left: { side: left.side, trajectory: leftTrajectory },
    right: { side: right.side, trajectory: rightTrajectory },
  }
}

/** Releases a trajectory in the worker when it is no longer shown. */
function useReleased(trajectory: TrajectoryView | undefined, release: (trajectory: TrajectoryView) => void): void {
  useEffect(() => (trajectory ? () => release(trajectory) : undefined), [trajectory, release])
}

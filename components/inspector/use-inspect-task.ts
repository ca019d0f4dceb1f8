'use client'
import { useEffect, useEffectEvent, useState } from 'react'
import type { InspectRequestOf, InspectResultOf, InspectTaskName } from '#lib/analysis/tasks.ts'
import type { Inspection } from './inspection.ts'

/** State of a task in the worker. */
export type InspectState<Result> =
  /** `before` is the result of the previous request, until the new one arrives. */
  | { readonly kind: 'running'; readonly before: Result | undefined }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly error: Error }

/** State of a task that has ended. */
export type InspectAnswer<Result> = Exclude<InspectState<Result>, { kind: 'running' }>

interface InspectTaskOptions<Result> {
  /** Tokenizers that the task needs, as the server's loader names them. If omitted, none. */
  readonly tokenizers?: readonly string[]
  /** `false` means that the task is not requested yet. */
  readonly isOn?: boolean
  /** Called once with each answer, as of the render that is shown when it arrives. */
  readonly onAnswer?: (answer: InspectAnswer<Result>) => void
}

/**
 * Runs a task for a trajectory. It is requested again when the request or the trajectory changes, and aborted when its
 * result is no longer needed.
 */
export function useInspectTask<Name extends InspectTaskName>(
  { trajectory, run }: Pick<Inspection, 'trajectory' | 'run'>,
  name: Name,
  request: InspectRequestOf<Name>,
  { tokenizers = [], isOn = true, onAnswer }: InspectTaskOptions<InspectResultOf<Name>> = {},
): InspectState<InspectResultOf<Name>> {
  const key = JSON.stringify([name, request, tokenizers])
  const [answer, setAnswer] = useState<{
    readonly key: string
    readonly trajectory: Inspection['trajectory']
    readonly state: InspectAnswer<InspectResultOf<Name>>
  }>()
  const settle = useEffectEvent((state: InspectAnswer<InspectResultOf<Name>>) => {
    setAnswer({ key, trajectory, state })
    onAnswer?.(state)
  })
  const ask = useEffectEvent(async (signal: AbortSignal) => {
    const state = await run(name, request, { tokenizers, signal }).then(
      (result) => ({ kind: 'done', result }) as const,
      (reason: unknown) =>
        ({ kind: 'failed', error: reason instanceof Error ? reason : new Error(String(reason)) }) as const,
    )
    if (!signal.aborted) settle(state)
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another request or trajectory needs another result
  useEffect(() => {
    if (!isOn) return
    const controller = new AbortController()
    void ask(controller.signal)
    return () => controller.abort()
  }, [key, trajectory, isOn])
  if (answer?.key === key && answer.trajectory === trajectory) return answer.state
  return { kind: 'running', before: answer?.state.kind === 'done' ? answer.state.result : undefined }
}

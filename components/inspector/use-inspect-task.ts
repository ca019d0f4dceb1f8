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

interface InspectTaskOptions {
  /** Tokenizers that the task needs, as the server's loader names them. If omitted, none. */
  readonly tokenizers?: readonly string[]
  /** `false` means that the task is not requested yet. */
  readonly isOn?: boolean
}

/**
 * Runs a task for a trajectory. It is requested again when the request or the trajectory changes, and aborted when its
 * result is no longer needed.
 */
export function useInspectTask<Name extends InspectTaskName>(
  { trajectory, run }: Pick<Inspection, 'trajectory' | 'run'>,
  name: Name,
  request: InspectRequestOf<Name>,
  { tokenizers = [], isOn = true }: InspectTaskOptions = {},
): InspectState<InspectResultOf<Name>> {
  const key = JSON.stringify([name, request, tokenizers])
  const [answer, setAnswer] = useState<{
    readonly key: string
    readonly trajectory: Inspection['trajectory']
    readonly state: Exclude<InspectState<InspectResultOf<Name>>, { kind: 'running' }>
  }>()
  const ask = useEffectEvent(async (signal: AbortSignal) => {
    try {
      const result = await run(name, request, { tokenizers, signal })
      if (!signal.aborted) setAnswer({ key, trajectory, state: { kind: 'done', result } })
    } catch (reason) {
      if (signal.aborted) return
      const error = reason instanceof Error ? reason : new Error(String(reason))
      setAnswer({ key, trajectory, state: { kind: 'failed', error } })
    }
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

'use client'
import { useEffect, useEffectEvent, useState } from 'react'
import type { ProgressOf, RunTask, TaskName, TemplateRequestOf, TemplateResultOf } from '#lib/templates/tasks/tasks.ts'

/** State of a task. */
export type TaskState<Progress, Result> =
  /** `progress` is the last report. */
  | { readonly kind: 'running'; readonly progress: Progress | undefined }
  /** `requestedAt` is the time when the request changed, by performance.now(). */
  | { readonly kind: 'done'; readonly result: Result; readonly requestedAt: number }
  | { readonly kind: 'failed'; readonly error: Error }

interface TaskOptions<Progress, Result> {
  readonly tokenizers: readonly string[]
  /** Time without a change of the request before the task starts, in milliseconds. */
  readonly pauseMs: number
  /** Identifies a request that is too large to compare on every render. */
  readonly key?: string
  /** Called with each result, for what must outlast a new request. */
  readonly onResult?: (result: Result) => void
  readonly onProgress?: (progress: Progress) => void
}

/**
 * Runs a task whenever its request changes, and cancels it when its result is no longer needed. Nothing runs without a request.
 */
export function useTask<Name extends TaskName>(
  run: RunTask,
  name: Name,
  request: TemplateRequestOf<Name> | undefined,
  { tokenizers, pauseMs, key: requestKey, onResult, onProgress }: TaskOptions<ProgressOf<Name>, TemplateResultOf<Name>>,
): TaskState<ProgressOf<Name>, TemplateResultOf<Name>> {
  const key = request === undefined ? undefined : (requestKey ?? JSON.stringify([name, request, tokenizers]))
  const [answer, setAnswer] = useState<{
    readonly key: string | undefined
    readonly state: TaskState<ProgressOf<Name>, TemplateResultOf<Name>>
  }>()
  const settle = useEffectEvent((result: TemplateResultOf<Name>) => onResult?.(result))
  const report = useEffectEvent((progress: ProgressOf<Name>) => onProgress?.(progress))
  const start = useEffectEvent(async (signal: AbortSignal, requestedAt: number) => {
    if (request === undefined) return
    try {
      const result = await run(name, request, {
        tokenizers,
        signal,
        onProgress: (progress) => {
          if (signal.aborted) return
          setAnswer({ key, state: { kind: 'running', progress } })
          report(progress)
        },
      })
      if (signal.aborted) return
      setAnswer({ key, state: { kind: 'done', result, requestedAt } })
      settle(result)
    } catch (error) {
      if (signal.aborted) return
      const failure = error instanceof Error ? error : new Error(String(error))
      setAnswer({ key, state: { kind: 'failed', error: failure } })
    }
  })
  useEffect(() => {
    if (key === undefined) return
    const controller = new AbortController()
    const requestedAt = performance.now()
    const pause = setTimeout(() => start(controller.signal, requestedAt), pauseMs)
    return () => {
      clearTimeout(pause)
      controller.abort()
    }
  }, [key, pauseMs])
  return answer && answer.key === key ? answer.state : { kind: 'running', progress: undefined }
}

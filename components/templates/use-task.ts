'use client'
import { useEffect, useEffectEvent, useState } from 'react'
import type { RequestOf, ResultOf, RunTask, TaskName } from '#lib/lab/tasks.ts'

export type TaskState<Result> =
  | { readonly kind: 'running' }
  /** `askedAt`: when the request changed, as performance.now() tells it. */
  | { readonly kind: 'done'; readonly result: Result; readonly askedAt: number }
  | { readonly kind: 'failed'; readonly error: Error }

interface TaskOptions {
  readonly tokenizers: readonly string[]
  /** The request must stand still this long before it is asked. */
  readonly pauseMs: number
}

/** A task that follows its request: asked again when that changes, given up when nobody needs its answer any more. */
export function useTask<Name extends TaskName>(
  run: RunTask,
  name: Name,
  request: RequestOf<Name>,
  { tokenizers, pauseMs }: TaskOptions,
): TaskState<ResultOf<Name>> {
  const key = JSON.stringify([name, request, tokenizers])
  const [answer, setAnswer] = useState<{ readonly key: string; readonly state: TaskState<ResultOf<Name>> }>()
  const ask = useEffectEvent(async (signal: AbortSignal, askedAt: number) => {
    try {
      const result = await run(name, request, { tokenizers, signal })
      if (!signal.aborted) setAnswer({ key, state: { kind: 'done', result, askedAt } })
    } catch (error) {
      if (signal.aborted) return
      const failure = error instanceof Error ? error : new Error(String(error))
      setAnswer({ key, state: { kind: 'failed', error: failure } })
    }
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for all that is asked
  useEffect(() => {
    const controller = new AbortController()
    const askedAt = performance.now()
    const pause = setTimeout(() => ask(controller.signal, askedAt), pauseMs)
    return () => {
      clearTimeout(pause)
      controller.abort()
    }
  }, [key, pauseMs])
  return answer?.key === key ? answer.state : { kind: 'running' }
}

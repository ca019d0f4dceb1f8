'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { applicationOptions, isAnswering } from './application.ts'

/** Navigation that never leaves a page for one that cannot be loaded. */
export interface Navigation {
  readonly isUnreachable: boolean
  /** Address that is opened once the application answers again. */
  readonly waiting: string | undefined
  /** Opens another page once the application answers and `ready` is fulfilled; until then this page stays with its content. */
  go(href: string, ready?: Promise<unknown>): Promise<void>
  /** Forgets the waiting address. */
  stay(): void
}

/**
 * Returns the navigation of the application. The router discards this page if it cannot load the next one, so the application must answer
 * before each step.
 */
export function useGuardedNavigation(push: (href: string) => void): Navigation {
  const { data } = useQuery(applicationOptions())
  const cache = useQueryClient()
  const [waiting, setWaiting] = useState<string>()
  const latest = useRef(0)
  const go = async (href: string, ready?: Promise<unknown>) => {
    const step = ++latest.current
    const [answers] = await Promise.all([isAnswering(), ready])
    if (step !== latest.current) return
    cache.setQueryData(applicationOptions().queryKey, answers ? 'answers' : 'unreachable')
    setWaiting(answers ? undefined : href)
    if (answers) push(href)
  }
  const resume = useEffectEvent((href: string) => go(href))
  useEffect(() => {
    // A query that failed in the meantime would keep its error until somebody requests it again.
    if (data === 'answers') void cache.refetchQueries({ predicate: ({ state }) => state.status === 'error' })
  }, [data, cache])
  useEffect(() => {
    // This also runs if 'unreachable' was never drawn because the answer followed at once.
    if (data === 'answers' && waiting !== undefined) void resume(waiting)
  }, [data, waiting])
  return {
    isUnreachable: data === 'unreachable',
    waiting,
    go,
    stay() {
      latest.current++
      setWaiting(undefined)
    },
  }
}

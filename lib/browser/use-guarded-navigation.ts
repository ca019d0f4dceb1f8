'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { applicationOptions, isAnswering } from './application.ts'

export interface Navigation {
  readonly isGone: boolean
  /** The address that is opened once the application answers again. */
  readonly waiting: string | undefined
  /** Opens another page once the application answers; until then this one stays, with all that is on it. */
  go(href: string): Promise<void>
  /** Forgets the address that waits. */
  stay(): void
}

/** The router throws this page away where it cannot load the next one, so the application is asked before each step. */
export function useGuardedNavigation(push: (href: string) => void): Navigation {
  const { data } = useQuery(applicationOptions())
  const cache = useQueryClient()
  const [waiting, setWaiting] = useState<string>()
  const latest = useRef(0)
  const go = async (href: string) => {
    const step = ++latest.current
    const answers = await isAnswering()
    if (step !== latest.current) return
    cache.setQueryData(applicationOptions().queryKey, answers ? 'answers' : 'gone')
    setWaiting(answers ? undefined : href)
    if (answers) push(href)
  }
  const resume = useEffectEvent((href: string) => go(href))
  useEffect(() => {
    // What failed meanwhile would say so until somebody asks again.
    if (data === 'answers') void cache.refetchQueries({ predicate: ({ state }) => state.status === 'error' })
  }, [data, cache])
  useEffect(() => {
    // Also where 'gone' was never drawn: the answer to the request of that second came right after.
    if (data === 'answers' && waiting !== undefined) void resume(waiting)
  }, [data, waiting])
  return {
    isGone: data === 'gone',
    waiting,
    go,
    stay() {
      latest.current++
      setWaiting(undefined)
    },
  }
}

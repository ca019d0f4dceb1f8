'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { type ApplicationState, applicationOptions, isAnswering, reportSlow, watchAnswer } from './application.ts'

/** Navigation that never leaves a page for one that cannot be loaded. */
export interface Navigation {
  readonly application: ApplicationState
  /** Address that is opened once the application answers again. */
  readonly waiting: string | undefined
  /** Checks whether the application answers, because a link is pressed: the `go` of its click then waits for nothing. */
  expectGo(): void
  /** Opens another page once the application answers and `ready` is fulfilled; until then this page stays with its content. */
  go(href: string, ready?: Promise<unknown>): Promise<void>
  /** Forgets the waiting address. */
  stay(): void
  /** Returns once whether the page was opened by keyboard: what had the focus is gone, so the page gives it a place. */
  takeFocus(): boolean
}

/** Longest time in milliseconds from the press of a link to its click in which the check of the press counts. */
const PRESS_MS = 500

/**
 * Returns the navigation of the application. The router discards this page if it cannot load the next one, so the application must answer
 * before each step.
 */
export function useGuardedNavigation(push: (href: string) => void): Navigation {
  const { data } = useQuery(applicationOptions())
  const cache = useQueryClient()
  const [waiting, setWaiting] = useState<string>()
  const latest = useRef(0)
  const isByKeyboard = useRef(false)
  const pressed = useRef<{ readonly at: number; readonly isAnswering: Promise<boolean> }>(undefined)
  const go = async (href: string, ready?: Promise<unknown>) => {
    const step = ++latest.current
    const checked = pressed.current
    pressed.current = undefined
    const isFocusVisible = document.querySelector(':focus-visible') !== null
    const isChecked = checked && Date.now() - checked.at < PRESS_MS
    /** The page says what it waits for, if nothing newer was opened. */
    const onLate = () => {
      reportSlow(cache)
      if (step === latest.current) setWaiting(href)
    }
    const answer = watchAnswer(isChecked ? checked.isAnswering : isAnswering(), onLate)
    const [answers] = await Promise.all([answer, ready])
    if (step !== latest.current) return
    cache.setQueryData(applicationOptions().queryKey, answers ? 'answers' : 'unreachable')
    setWaiting(answers ? undefined : href)
    if (!answers) return
    isByKeyboard.current = isFocusVisible
    push(href)
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
    application: data ?? 'answers',
    waiting,
    expectGo() {
      pressed.current = { at: Date.now(), isAnswering: isAnswering() }
    },
    go,
    stay() {
      latest.current++
      setWaiting(undefined)
    },
    takeFocus() {
      const isTaken = isByKeyboard.current
      isByKeyboard.current = false
      return isTaken
    },
  }
}

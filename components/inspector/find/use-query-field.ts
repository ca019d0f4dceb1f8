'use client'
import { useEffect, useEffectEvent, useState } from 'react'

/** Pause in typing, in milliseconds, after which the query is searched for. */
const REST_MS = 150

interface QueryFieldOptions {
  /** The query of the address. */
  readonly query: string
  readonly onQuery: (query: string) => void
  /** Recent queries, the latest first. */
  readonly recent: readonly string[]
}

/** Returns the text of the search field, which becomes the query after a pause in typing or on request. */
export function useQueryField({ query, onQuery, recent }: QueryFieldOptions) {
  /** `undefined` means the query of the address. */
  const [typed, setTyped] = useState<string>()
  /** Index in the recent queries; −1 for none of them. */
  const [back, setBack] = useState(-1)

  const lookFor = (wanted: string) => {
    setTyped(undefined)
    if (wanted !== query) onQuery(wanted)
  }
  const rested = useEffectEvent((wanted: string) => lookFor(wanted))
  useEffect(() => {
    if (typed === undefined) return
    const rest = setTimeout(() => rested(typed), REST_MS)
    return () => clearTimeout(rest)
  }, [typed])

  return {
    text: typed ?? query,
    type: (text: string) => {
      setTyped(text)
      setBack(-1)
    },
    /** Makes a text the query immediately. */
    lookFor,
    /** Writes an older (1) or newer (−1) recent query into the field. */
    recall: (direction: 1 | -1) => {
      const index = Math.max(-1, back + direction)
      const recalled = recent[index]
      if (recalled === undefined && index !== -1) return
      setBack(index)
      setTyped(recalled ?? '')
    },
    /** The next recall begins with the latest query. */
    endRecall: () => setBack(-1),
  }
}

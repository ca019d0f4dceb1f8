'use client'
import { useState } from 'react'

/** Returns the keys of the selected trajectories, and the actions that change them. */
export function useChosenRows() {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const choose = (keys: readonly string[], isChosen: boolean) =>
    setChosen((before) => new Set(isChosen ? [...before, ...keys] : [...before].filter((key) => !keys.includes(key))))
  return {
    chosen,
    choose,
    clearChosen: () => setChosen(new Set()),
  }
}

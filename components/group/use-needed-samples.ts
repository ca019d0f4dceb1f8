import { useEffectEvent, useRef } from 'react'
import type { SampleTree } from './tree.ts'

/** Returns a function that requests the samples from which the visible branches are drawn, those of the first branches first. */
export function useNeededSamples(tree: SampleTree, need: (samples: readonly number[]) => void) {
  const last = useRef<ReadonlySet<number>>(new Set())
  return useEffectEvent((branches: ReadonlySet<number>) => {
    last.current = branches
    const samples = [...branches].flatMap((index) => {
      const branch = tree.branches[index]
      return branch && branch.end > branch.start ? [branch.sample] : []
    })
    need([...new Set(samples)])
  })
}

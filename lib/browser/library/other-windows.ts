'use client'
/** Informs the windows of a browser about deletions, so that each shows them without waiting for the focus. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { TRAJECTORIES } from '../queries.ts'
import { REVISION } from './shown-labels.ts'

/** Name of the channel between the windows. Its messages have no content. */
export const DELETIONS = 'rollscope-deletions'

/** The channel of this window, which does not receive its own messages. */
let opened: BroadcastChannel | undefined

const channel = (): BroadcastChannel => {
  opened ??= new BroadcastChannel(DELETIONS)
  return opened
}

/** Informs the other windows that trajectories were deleted or restored. */
export const tellOtherWindows = (): void => channel().postMessage(null)

/** Requests lists again, and whether shown trajectories exist, when another window has deleted or restored some. */
export function useOtherWindows(): void {
  const cache = useQueryClient()
  useEffect(() => {
    const read = () => {
      void cache.invalidateQueries({ queryKey: TRAJECTORIES })
      void cache.invalidateQueries({ queryKey: REVISION })
    }
    channel().addEventListener('message', read)
    return () => channel().removeEventListener('message', read)
  }, [cache])
}

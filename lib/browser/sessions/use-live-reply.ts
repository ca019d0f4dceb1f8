'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { createRolloutStore } from '../rollout/rollout-store.ts'
import { liveReplyPath, SESSIONS } from './sessions.ts'

/**
 * Follows a reply of a session while it is generated, and reads the session again when it has ended. Returns the trajectory so far, also after
 * its end until another reply is followed; undefined before its first event.
 */
export function useLiveReply(sessionId: string, reply: string | undefined): TrajectoryView | undefined {
  const client = useQueryClient()
  const [store] = useState(() =>
    createRolloutStore(
      (action) => requestAnimationFrame(action),
      () => void client.invalidateQueries({ queryKey: SESSIONS }),
    ),
  )
  const state = useSyncExternalStore(store.subscribe, store.state, store.state)
  useEffect(() => {
    if (reply !== undefined) store.follow(reply, reply, liveReplyPath(sessionId, reply))
    else if (store.state().kind === 'following') store.reset()
  }, [store, sessionId, reply])
  useEffect(() => () => store.reset(), [store])
  return 'trajectory' in state ? state.trajectory : undefined
}

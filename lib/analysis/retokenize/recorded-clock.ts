/** Provides the time that a template writes: the time at which the trajectory was created, not the time of this render. */
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** A clock for one render. It records whether the template read it. */
export interface Clock {
  readonly read: () => Date
  /** Returns a caveat if the template read the clock. Call it after the render. */
  readonly caveats: () => readonly string[]
}

/** Returns a clock that always shows `createdAt`, or 1970 if that is not a date. */
export function recordedClock({ createdAt }: Pick<TrajectoryView, 'createdAt'>): Clock {
  const written = new Date(createdAt)
  const isKnown = !Number.isNaN(written.getTime())
  const date = isKnown ? written : new Date(0)
  let isRead = false
  return {
    read: () => {
      isRead = true
      return date
    },
    caveats: () => {
      if (!isRead) return []
      const taken = isKnown
        ? `the time of the trajectory (${createdAt})`
        : 'a time in 1970, because the trajectory’s time cannot be read'
      return [`The template writes the current time. Here it is ${taken}; a later render differs.`]
    },
  }
}

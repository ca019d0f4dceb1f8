/** The time that a template tells: that at which the trajectory was made, and not that of this render. */
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

export interface Clock {
  readonly read: () => Date
  /** Once the template has rendered. */
  readonly caveats: () => readonly string[]
}

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
        ? `that of the trajectory (${createdAt})`
        : 'of 1970, because the trajectory’s own cannot be read'
      return [`The template writes the time of its render: here it is ${taken}; a later render differs.`]
    },
  }
}

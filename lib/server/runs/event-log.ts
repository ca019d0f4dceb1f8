import { elementAt } from '#lib/util/element-at.ts'

/** A numbered list of events that grows until it ends. Any number of readers follow it from any number on. */
export interface EventLog<Event> {
  add(event: Event): void
  /** Ends the log: readers get the remaining events and then end. */
  end(): void
  readonly hasEnded: boolean
  /** Yields the events from number `from` on until the end or the signal; with `now`, until no more event is there. */
  follow(from: number, signal: AbortSignal, until?: Until): AsyncGenerator<Event>
}

/** How long a reader follows: until the log ends, or only through the events so far. */
export const UNTIL = ['end', 'now'] as const
/** How long a reader follows a log. */
export type Until = (typeof UNTIL)[number]

/** Returns an empty log. */
export function createEventLog<Event>(): EventLog<Event> {
  const events: Event[] = []
  const wakes = new Set<() => void>()
  let hasEnded = false
  const wakeAll = () => {
    for (const wake of wakes) wake()
  }
  return {
    add(event) {
      events.push(event)
      wakeAll()
    },
    end() {
      hasEnded = true
      wakeAll()
    },
    get hasEnded() {
      return hasEnded
    },
    async *follow(from, signal, until = 'end') {
      for (let next = from; ; ) {
        while (next < events.length && !signal.aborted) yield elementAt(events, next++)
        if (hasEnded || signal.aborted || until === 'now') return
        await woken(wakes, signal)
      }
    },
  }
}

function woken(wakes: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      wakes.delete(wake)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    wakes.add(wake)
    signal.addEventListener('abort', wake)
  })
}

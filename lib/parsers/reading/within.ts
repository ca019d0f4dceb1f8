import type { TextRange } from '../parser.ts'

/** Whether a position lies in one of some sorted ranges; asked in increasing order. */
export function within(ranges: readonly TextRange[]): (position: number) => boolean {
  let next = 0
  return (position) => {
    while ((ranges[next]?.end ?? Infinity) <= position) next++
    return (ranges[next]?.start ?? Infinity) <= position
  }
}

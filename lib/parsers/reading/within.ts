import type { TextRange } from '../parser.ts'

/** Returns a check whether a position is inside of sorted ranges; positions must increase from call to call. */
export function createRangeCheck(ranges: readonly TextRange[]): (position: number) => boolean {
  let next = 0
  return (position) => {
    while ((ranges[next]?.end ?? Infinity) <= position) next++
    return (ranges[next]?.start ?? Infinity) <= position
  }
}

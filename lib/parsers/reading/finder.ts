import { elementAt } from '#lib/util/element-at.ts'

/**
 * Creates a search for the next occurrence at or after a position. It reads the text once; a search for an earlier
 * position costs the distance between the two. A pattern must be global.
 */
export function createFinder(text: string, needle: string | RegExp): (from: number) => number {
  const positionFrom = (from: number): number => {
    if (typeof needle === 'string') return text.indexOf(needle, from)
    needle.lastIndex = from
    return needle.exec(text)?.index ?? -1
  }
  /** Positions found so far; the last is -1 if there are no more. */
  const found = [positionFrom(0)]
  let at = 0
  return (position) => {
    while (at > 0 && elementAt(found, at - 1) >= position) at--
    for (;;) {
      const candidate = elementAt(found, at)
      if (candidate >= position || candidate < 0) return candidate
      at++
      if (at === found.length) found.push(positionFrom(candidate + 1))
    }
  }
}

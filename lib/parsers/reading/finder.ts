import { elementAt } from '#lib/util/element-at.ts'

/**
 * Finds the next occurrence at or after a position. It reads the text once; being asked for an earlier place costs what
 * lies between the two. A pattern is global.
 */
export function finder(text: string, needle: string | RegExp): (from: number) => number {
  const placeFrom = (from: number): number => {
    if (typeof needle === 'string') return text.indexOf(needle, from)
    needle.lastIndex = from
    return needle.exec(text)?.index ?? -1
  }
  /** What has been found; at the end -1, when there are no more. */
  const found = [placeFrom(0)]
  let at = 0
  return (position) => {
    while (at > 0 && elementAt(found, at - 1) >= position) at--
    for (;;) {
      const place = elementAt(found, at)
      if (place >= position || place < 0) return place
      at++
      if (at === found.length) found.push(placeFrom(place + 1))
    }
  }
}

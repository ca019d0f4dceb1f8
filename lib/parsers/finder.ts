/**
 * Finds the next occurrence at or after a position. It reads the text once; being asked for an earlier place costs what
 * lies between the two.
 */
export function finder(text: string, needle: string): (from: number) => number {
  /** What has been found; at the end -1, when there are no more. */
  const found = [text.indexOf(needle)]
  let at = 0
  return (position) => {
    while (at > 0 && (found[at - 1] as number) >= position) at--
    for (;;) {
      const place = found[at] as number
      if (place >= position || place < 0) return place
      at++
      if (at === found.length) found.push(text.indexOf(needle, place + 1))
    }
  }
}

/** Finds the next occurrence at or after a position. It reads the text once, in whatever order it is asked. */
export function finder(text: string, needle: string): (from: number) => number {
  const found: number[] = []
  let isReadWhole = false
  return (position) => {
    while (!isReadWhole && (found.at(-1) ?? -1) < position) {
      const next = text.indexOf(needle, (found.at(-1) ?? -1) + 1)
      if (next < 0) isReadWhole = true
      else found.push(next)
    }
    let low = 0
    let high = found.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((found[middle] as number) < position) low = middle + 1
      else high = middle
    }
    return found[low] ?? -1
  }
}

/** Finds the next occurrence at or after a position; asked in increasing order it reads the text once. */
export function finder(text: string, needle: string): (from: number) => number {
  let from = -1
  let found = -2
  return (position) => {
    if (found === -2 || position < from || (found >= 0 && found < position)) found = text.indexOf(needle, position)
    from = position
    return found
  }
}

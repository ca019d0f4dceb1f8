/** Where an offset stands, as editors tell it. */

export interface TextPosition {
  /** UTF-16 code units from the start of the text. */
  readonly offset: number
  /** From 1. */
  readonly line: number
  /** In code points, from 1. */
  readonly column: number
}

/** Goes on from the place before where it can: a text of faults is read once. */
export function placesIn(text: string): (offset: number) => TextPosition {
  let [at, line, column] = [0, 1, 1]
  return (offset) => {
    if (offset < at) [at, line, column] = [0, 1, 1]
    while (at < offset) {
      const code = text.codePointAt(at) ?? 0
      const next = at + (code > 0xffff ? 2 : 1)
      if (next > offset) return { offset, line, column: column + 1 }
      ;[line, column] = code === 10 ? [line + 1, 1] : [line, column + 1]
      at = next
    }
    return { offset, line, column }
  }
}

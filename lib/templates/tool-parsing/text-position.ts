/** Positions in a text, as editors show them. */

/** Offset, line and column of one position. */
export interface TextPosition {
  /** UTF-16 code units from the start of the text. */
  readonly offset: number
  /** Line, from 1. */
  readonly line: number
  /** Column in code points, from 1. */
  readonly column: number
}

/** Returns a function that finds positions. It continues from the previous one if it can, so that a text with many faults is read once. */
export function createPositionFinder(text: string): (offset: number) => TextPosition {
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

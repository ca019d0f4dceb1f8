/** Where an offset stands, as editors tell it. */

export interface Place {
  /** UTF-16 code units from the start of the text. */
  readonly offset: number
  /** From 1. */
  readonly line: number
  /** In code points, from 1. */
  readonly column: number
}

export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { offset, line: before.split('\n').length, column: Array.from(before.slice(lineStart)).length + 1 }
}

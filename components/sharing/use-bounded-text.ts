import { useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'

interface BoundedText {
  /** Accepts a text that was typed, pasted or loaded, or refuses it. */
  readonly take: (text: string) => void
  /** Reads a file unless it is too large. */
  readonly takeFile: (file: Pick<File, 'size' | 'text'>) => Promise<void>
  /** Why the last text was refused, with its size and the limit; undefined if it was accepted. */
  readonly refusal: string | undefined
}

/**
 * Returns handlers for a box with texts of at most `limit` characters. A longer text is refused and the box does not change,
 * since its beginning alone would have another meaning.
 */
export function useBoundedText(limit: number, onText: (text: string) => void): BoundedText {
  const [refusal, setRefusal] = useState<string>()
  const take = (text: string) => {
    const isTaken = text.length <= limit
    setRefusal(isTaken ? undefined : tooLong(`${countText(text.length)} characters`, limit))
    if (isTaken) onText(text)
  }
  return {
    take,
    takeFile: async (file) => {
      // A character has at most four bytes in UTF-8.
      if (file.size > 4 * limit) setRefusal(tooLong(`${countText(file.size)} bytes`, limit))
      else take(await file.text())
    },
    refusal,
  }
}

const tooLong = (size: string, limit: number): string =>
  `This has ${size}, more than the limit of ${countText(limit)} characters. Nothing was changed.`

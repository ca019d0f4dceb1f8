import { useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'

interface BoundedText {
  /** Takes a text that is typed, pasted or loaded. */
  readonly take: (text: string) => void
  /** Reads a file, where it is not too large for it. */
  readonly takeFile: (file: Pick<File, 'size' | 'text'>) => Promise<void>
  /** Why the last one was not taken: how large it was, and how large it may be. */
  readonly refusal: string | undefined
}

/**
 * A box for texts of at most `limit` characters. A longer one is refused whole, and the box stays as it is: its beginning alone
 * would mean something else.
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
      // A character has four bytes at most.
      if (file.size > 4 * limit) setRefusal(tooLong(`${countText(file.size)} bytes`, limit))
      else take(await file.text())
    },
    refusal,
  }
}

const tooLong = (size: string, limit: number): string =>
  `This has ${size}, more than the limit of ${countText(limit)} characters. Nothing was changed.`

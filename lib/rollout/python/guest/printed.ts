/** What Python prints, told as it comes: a process that ends or hangs takes nothing of it along. */
import { MOST_BYTES } from '../protocol.ts'

interface Printed {
  /** Standard output and error, as they are written. Returns how many bytes it took: all. */
  add(chunk: Uint8Array): number
  /** Tells what is held back. */
  flush(): void
  /** Ends the call. */
  end(): void
}

/** So much of a call is told byte for byte; what follows waits until there is a block of it, or for the next flush. */
const AT_ONCE_BYTES = 65_536
const BLOCK_CHARACTERS = 4_096

/** `tell` gets one piece after another, MOST_BYTES of a call at most, each with how many bytes were printed so far. */
export function printedTo(tell: (text: string, bytes: number) => void): Printed {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let bytes = 0
  let told = 0
  let held = ''
  const flush = () => {
    if (told === bytes) return
    tell(held, bytes)
    told = bytes
    held = ''
  }
  return {
    add(chunk) {
      const room = MOST_BYTES - bytes
      bytes += chunk.length
      // A character that does not fit whole is left out.
      if (room > 0) held += decoder.decode(chunk.subarray(0, room), { stream: true })
      if (bytes <= AT_ONCE_BYTES || held.length >= BLOCK_CHARACTERS) flush()
      return chunk.length
    },
    flush,
    end() {
      const rest = decoder.decode()
      if (bytes <= MOST_BYTES && rest !== '') {
        held += rest
        told = -1
      }
      flush()
      bytes = 0
      told = 0
    },
  }
}

/** Sends printed text as it is written, so that a process that ends or hangs loses none of it. */
import { MOST_BYTES } from '../protocol.ts'

interface Printed {
  /** Adds a chunk of standard output or error. Returns the number of accepted bytes, which is always all of them. */
  add(chunk: Uint8Array): number
  /** Sends the text that is held back. */
  flush(): void
  /** Ends the call. */
  end(): void
}

/** Output up to this size is sent immediately; later output is sent in blocks, or at the next flush. */
const AT_ONCE_BYTES = 65_536
const BLOCK_CHARACTERS = 4_096

/**
 * Returns a collector. It calls `tell` with one piece after another, at most MOST_BYTES for each call, and the total of
 * printed bytes.
 */
export function printedTo(report: (text: string, bytes: number) => void): Printed {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let bytes = 0
  let reportedBytes = 0
  let unreported = ''
  const flush = () => {
    if (reportedBytes === bytes) return
    report(unreported, bytes)
    reportedBytes = bytes
    unreported = ''
  }
  return {
    add(chunk) {
      const room = MOST_BYTES - bytes
      bytes += chunk.length
      // A character that does not fit completely is left out.
      if (room > 0) unreported += decoder.decode(chunk.subarray(0, room), { stream: true })
      if (bytes <= AT_ONCE_BYTES || unreported.length >= BLOCK_CHARACTERS) flush()
      return chunk.length
    },
    flush,
    end() {
      const rest = decoder.decode()
      if (bytes <= MOST_BYTES && rest !== '') {
        unreported += rest
        reportedBytes = -1
      }
      flush()
      bytes = 0
      reportedBytes = 0
    },
  }
}

/** Blocking reads and writes, so that nothing runs in this process between two calls. */
import fs from 'node:fs'

/** Memory that never changes; waiting for it is a blocking sleep. */
const NEVER = new Int32Array(new SharedArrayBuffer(4))

/** Writes all bytes to standard output. */
export function writeWhole(bytes: Uint8Array): void {
  let rest = bytes
  while (rest.length > 0) rest = rest.subarray(waitFor(() => fs.writeSync(1, rest)))
}

/** Yields the lines of standard input, without their ends. An incomplete last line is dropped. */
export function* inputLines(): Generator<string> {
  const chunk = Buffer.alloc(65_536)
  let rest: Buffer<ArrayBuffer> = Buffer.alloc(0)
  for (;;) {
    const read = waitFor(() => fs.readSync(0, chunk))
    if (read === 0) return
    rest = Buffer.concat([rest, chunk.subarray(0, read)])
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      yield rest.toString('utf8', 0, end)
      rest = rest.subarray(end + 1)
    }
  }
}

/** Repeats an action every 5 ms while the pipe is not ready (EAGAIN). */
function waitFor(action: () => number): number {
  for (;;) {
    try {
      return action()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(NEVER, 0, 0, 5)
    }
  }
}

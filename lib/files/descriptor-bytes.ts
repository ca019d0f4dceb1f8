/** Reads the bytes of open files, and keeps decompressed bytes in files without a name. */

import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import path from 'node:path'
import { type ByteSource, CHUNK, type KeptBytes } from '#lib/formats/containers/container.ts'

/** Returns the bytes of an open file. Chunks share one buffer, because buffers that are no longer used wait for a collection. */
export function descriptorBytes(descriptor: number, size: number): ByteSource {
  const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK, size))
  return {
    size,
    read: async (start, end) => {
      const length = end - start
      const bytes = length <= chunk.length ? chunk.subarray(0, length) : Buffer.allocUnsafeSlow(length)
      for (let read = 0; read < length; ) {
        const count = readSync(descriptor, bytes, read, length - read, start + read)
        if (count === 0) throw new Error('the file is shorter than it was')
        read += count
      }
      return bytes
    },
  }
}

/** Returns a function that keeps bytes in this folder. Their file has no name, so nothing remains however the process ends. */
export const keepInFolder =
  (folder: string) =>
  async (chunks: AsyncIterable<Uint8Array>): Promise<KeptBytes> => {
    const name = path.join(folder, `.unpacked-${randomUUID()}`)
    const descriptor = openSync(name, 'wx+', 0o600)
    try {
      unlinkSync(name)
      let size = 0
      for await (const chunk of chunks)
        for (let done = 0; done < chunk.length; ) {
          const count = writeSync(descriptor, chunk, done, chunk.length - done, size)
          done += count
          size += count
        }
      return { ...descriptorBytes(descriptor, size), close: async () => closeSync(descriptor) }
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
  }

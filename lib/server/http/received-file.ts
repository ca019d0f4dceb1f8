/** Receives the body of a request as a file, so that it is never in memory as a whole. */
import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import path from 'node:path'
import { storeErrorOf } from '#lib/store/store-error.ts'

/** A received body in a file without a name. */
export interface ReceivedFile {
  readonly descriptor: number
  /** Size in bytes. */
  readonly size: number
  /** Closes the file, which frees its disk space. */
  close(): Promise<void>
}

/**
 * Writes the chunks to a file in this folder. The file loses its name before the first byte, so nothing remains however the process ends.
 * Rejects with StoreError if the disk fails, and with the error of the chunks.
 */
export async function receiveFile(chunks: AsyncIterable<Uint8Array>, folder: string): Promise<ReceivedFile> {
  const name = path.join(folder, `.import-${randomUUID()}`)
  const file = await openNameless(name)
  try {
    let size = 0
    for await (const part of joinChunks(chunks)) size += await writePart(file, part)
    return { descriptor: file.fd, size, close: () => file.close() }
  } catch (error) {
    await file.close()
    throw storeErrorOf(error, name)
  }
}

async function openNameless(name: string): Promise<FileHandle> {
  try {
    const file = await open(name, 'wx+', 0o600)
    await unlink(name)
    return file
  } catch (error) {
    throw storeErrorOf(error, name)
  }
}

async function writePart(file: FileHandle, part: Uint8Array): Promise<number> {
  for (let done = 0; done < part.length; ) done += (await file.write(part, done)).bytesWritten
  return part.length
}

const PART = 1 << 20

/**
 * Joins small chunks into larger parts, because bodies arrive in small pieces. A part is overwritten by the next one, and the
 * memory of a chunk is released: a body would otherwise stay in memory as a whole until the next collection of garbage.
 */
async function* joinChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const part = Buffer.allocUnsafeSlow(PART)
  let length = 0
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.subarray(at, at + PART - length)
      part.set(taken, length)
      at += taken.length
      length += taken.length
      if (length < PART) continue
      yield part
      length = 0
    }
    // Other data may be in the buffer of a chunk that is only a part of it.
    if (chunk.buffer instanceof ArrayBuffer && chunk.buffer.byteLength === chunk.byteLength) chunk.buffer.transfer(0)
  }
  yield part.subarray(0, length)
}

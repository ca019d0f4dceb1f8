/** The body of a request as a file, so that no thread holds it in memory. */
import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import path from 'node:path'
import { storeErrorOf } from '#lib/store/store-error.ts'

export interface ReceivedFile {
  readonly descriptor: number
  /** In bytes. */
  readonly size: number
  /** Gives its space back. */
  close(): Promise<void>
}

/**
 * Writes the chunks to the disk of this folder. The file has no name from the beginning on: whatever ends the process, nothing is
 * left. Rejects with StoreError where the disk fails, and with what the chunks reject with.
 */
export async function receiveFile(chunks: AsyncIterable<Uint8Array>, folder: string): Promise<ReceivedFile> {
  const name = path.join(folder, `.import-${randomUUID()}`)
  const file = await openNameless(name)
  try {
    let size = 0
    for await (const part of joined(chunks)) size += await written(file, part)
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

async function written(file: FileHandle, part: Uint8Array): Promise<number> {
  for (let done = 0; done < part.length; ) done += (await file.write(part, done)).bytesWritten
  return part.length
}

const PART = 1 << 20

/** Fewer writes: bodies arrive in small pieces. */
async function* joined(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    parts.push(chunk)
    length += chunk.length
    if (length < PART) continue
    yield Buffer.concat(parts)
    parts = []
    length = 0
  }
  yield Buffer.concat(parts)
}

/** Reads the bytes of a chosen file, and keeps decompressed bytes, in a worker of the page. */
import type { ByteSource, KeptBytes, UnpackTools } from '#lib/formats/containers/container.ts'
import { FileError, ServerFileError } from './file-error.ts'

/** Largest file whose bytes are in memory while a trajectory is read from it. */
const MOST_BYTES_IN_MEMORY = 64 * 2 ** 20

/**
 * Returns the bytes of a file of which a trajectory is read. A file of at most 64 MiB is read as a whole, because a browser takes
 * milliseconds for each part. Reading throws FileError as `fileByteSource` does.
 */
export function trajectoryByteSource(file: File): ByteSource {
  const bytes = fileByteSource(file)
  if (bytes.size > MOST_BYTES_IN_MEMORY) return bytes
  let whole: Promise<Uint8Array> | undefined
  return {
    size: bytes.size,
    async read(start, end) {
      whole ??= bytes.read(0, bytes.size)
      return (await whole).subarray(start, end)
    },
  }
}

/** Returns the bytes of a file. Reading them throws FileError if the file no longer exists or may not be read. */
export const fileByteSource = (file: File): ByteSource => ({
  size: file.size,
  read: async (start, end) => {
    try {
      return new Uint8Array(await file.slice(start, end).arrayBuffer())
    } catch (error) {
      throw new FileError(
        `${file.name} cannot be read: ${error instanceof Error ? error.message : error}`,
        'The file was changed or moved after it was chosen, or it is larger than this browser can read at once.',
      )
    }
  },
})

/** Browsers keep large Blobs on the disk. SQLite databases, which only the server opens, are refused. */
export const PAGE_TOOLS: UnpackTools = {
  async keep(chunks): Promise<KeptBytes> {
    const parts: Blob[] = []
    for await (const chunk of chunks) parts.push(new Blob([new Uint8Array(chunk)]))
    const blob = new Blob(parts)
    return {
      size: blob.size,
      read: async (start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer()),
      close: async () => {},
    }
  },
  sqlite: undefined,
}

/** The same for a file that the server may read instead: an SQLite database throws ServerFileError. */
export const PAGE_OR_SERVER_TOOLS: UnpackTools = {
  ...PAGE_TOOLS,
  sqlite: () => Promise.reject(new ServerFileError('only the server reads SQLite databases')),
}

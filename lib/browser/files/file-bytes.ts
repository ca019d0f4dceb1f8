import type { ByteSource } from '#lib/formats/reading/open.ts'
import { FileError } from './file-error.ts'

/** Reads bytes of a file. Throws FileError if the file no longer exists or may not be read. */
export const bytesOf = (file: File): ByteSource => ({
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

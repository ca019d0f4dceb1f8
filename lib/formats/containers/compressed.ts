/** Decompresses gzip, Zstandard and raw deflate data in pieces, so that no bomb is in memory before it is found. */
import { Gunzip, Inflate } from 'fflate'
import { Decompress } from 'fzstd'
import { errorText } from '#lib/util/text/error-text.ts'
import { type Budget, type ByteSource, ContainerError, copyOf, piecesOf } from './container.ts'
import { createCrc32 } from './crc32.ts'
import { createFrameChecks } from './zstd-frames.ts'

/** A push-based decompressor. `push` calls `ondata` of the options for each decompressed part. */
interface Decompressor {
  push(chunk: Uint8Array, isLast: boolean): void
}

/** Bytes that are pushed at once: deflate makes at most 1,032 bytes of one. */
const PIECE = 1 << 14

/** Yields the decompressed bytes of a file. Throws ContainerError for invalid or truncated data, and beyond the budget. */
async function* decompressed(
  what: string,
  bytes: ByteSource,
  budget: Budget,
  create: (ondata: (part: Uint8Array) => void) => Decompressor,
): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  const decompressor = create((part) => {
    budget.count(part.length, 0)
    parts.push(part)
  })
  const push = (piece: Uint8Array, isLast: boolean) => {
    budget.count(0, piece.length)
    try {
      decompressor.push(piece, isLast)
    } catch (error) {
      if (error instanceof ContainerError) throw error
      throw broken(what, errorText(error))
    }
  }
  // The last piece is pushed with the mark of the end, so a piece waits for the next one.
  let last: Uint8Array | undefined
  for await (const piece of piecesOf(bytes, 0, bytes.size, PIECE)) {
    if (last) push(last, false)
    yield* parts
    parts = []
    last = copyOf(piece)
  }
  push(last ?? new Uint8Array(), true)
  yield* parts
}

const broken = (what: string, why: string): ContainerError =>
  new ContainerError(`whole ${what} data`, `${why} in it`, 'The file is cut off or damaged: copy it again.')

/** Decompresses gzip data with any number of members, and checks their checksums. */
export async function* gunzipped(bytes: ByteSource, budget: Budget): AsyncGenerator<Uint8Array> {
  /** The end of each member in the file, with the checksum and the size of its content. */
  const members: { readonly end: number; readonly crc: number; readonly size: number }[] = []
  let crc = createCrc32()
  let size = 0
  const endMember = (end: number) => {
    members.push({ end, crc: crc.value(), size })
    crc = createCrc32()
    size = 0
  }
  yield* decompressed('gzip', bytes, budget, (ondata) => {
    const gunzip = new Gunzip((part) => {
      crc.add(part)
      size += part.length
      ondata(part)
    })
    gunzip.onmember = endMember
    return gunzip
  })
  endMember(bytes.size)
  for (const member of members) {
    const trailer = await bytes.read(Math.max(member.end - TRAILER, 0), member.end)
    const view = new DataView(trailer.buffer, trailer.byteOffset, trailer.byteLength)
    if (
      trailer.length < TRAILER ||
      view.getUint32(0, true) !== member.crc ||
      view.getUint32(4, true) !== member.size % 2 ** 32
    )
      throw broken('gzip', 'another checksum than that of the content')
  }
}

/** Bytes of the checksum and of the size after a member. */
const TRAILER = 8

/** Decompresses Zstandard data with any number of frames. */
export const unzstd = (bytes: ByteSource, budget: Budget): AsyncGenerator<Uint8Array> =>
  decompressed('Zstandard', bytes, budget, (ondata) => {
    const checks = createFrameChecks({ keepsWindow: true })
    const decompressor = new Decompress(ondata)
    return {
      push(piece, isLast) {
        checks.add(piece)
        decompressor.push(piece, isLast)
      },
    }
  })

/** Decompresses deflate data without a header, as in zip archives. */
export const inflated = (bytes: ByteSource, budget: Budget): AsyncGenerator<Uint8Array> =>
  decompressed('deflate', bytes, budget, (ondata) => new Inflate(ondata))

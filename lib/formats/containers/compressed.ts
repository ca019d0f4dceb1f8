/** Decompresses gzip, Zstandard and raw deflate data in pieces, so that no bomb is in memory before it is found. */
import { Gunzip, Inflate } from 'fflate'
import { Decompress } from 'fzstd'
import { errorText } from '#lib/util/text/error-text.ts'
import { type Budget, BudgetError, type ByteSource, ContainerError, copyOf, piecesOf } from './container.ts'
import { createCrc32 } from './crc32.ts'

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
      if (error instanceof BudgetError) throw error
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
export async function* unzstd(bytes: ByteSource, budget: Budget): AsyncGenerator<Uint8Array> {
  if (windowOf(await bytes.read(0, Math.min(LONGEST_HEADER, bytes.size))) > LARGEST_WINDOW)
    throw new ContainerError(
      `a Zstandard window of at most ${LARGEST_WINDOW / 2 ** 20} MiB`,
      'a larger one',
      'Decompress it yourself: `zstd -d --long=31`.',
    )
  yield* decompressed('Zstandard', bytes, budget, (ondata) => new Decompress(ondata))
}

/** The window in bytes to which the program zstd limits itself. */
const LARGEST_WINDOW = 2 ** 27

/** Bytes of the longest header of a frame. */
const LONGEST_HEADER = 18

/**
 * Returns at least the window of a frame, in bytes, which its header names. fzstd reserves that much memory and moves it with every
 * block, whatever the frame contains. The window of a frame of a single segment is its content.
 */
function windowOf(header: Uint8Array): number {
  const descriptor = header[4] ?? 0
  if ((descriptor & 32) === 0) return 2 ** (10 + ((header[5] ?? 0) >> 3))
  const dictionaryLength = (1 << (descriptor & 3)) >> 1
  const start = 5 + dictionaryLength
  const length = 1 << (descriptor >> 6)
  return header.subarray(start, start + length).reduceRight((size, byte) => size * 256 + byte, 0)
}

/** Decompresses deflate data without a header, as in zip archives. */
export const inflated = (bytes: ByteSource, budget: Budget): AsyncGenerator<Uint8Array> =>
  decompressed('deflate', bytes, budget, (ondata) => new Inflate(ondata))

/**
 * Checks the frames of Zstandard data before they are decompressed. fzstd trusts them: it reserves the window that a frame names, moves it
 * with every block, and writes repeated blocks of any size, so few bytes could take minutes.
 */
import { elementAt, uint8At } from '#lib/util/element-at.ts'
import { ContainerError } from './container.ts'

/** Checks of data that arrives in pieces. */
export interface FrameChecks {
  /** Checks the next bytes. Throws ContainerError. */
  add(piece: Uint8Array): void
  /** Returns the number of frames so far. */
  readonly frames: () => number
  /** Returns the number of bytes of all contents, as the frames name it; undefined if a frame does not. */
  readonly contentBytes: () => number | undefined
}

/** The window in bytes to which the program zstd limits itself. */
const LARGEST_WINDOW = 2 ** 27
/** Bytes of the content of a block, at most, in the format. */
const LARGEST_BLOCK = 2 ** 17
/** Bytes of windows that may be moved for any data: about a second. */
const FEW_MOVED_BYTES = 2 ** 32
/** Bytes of windows that may be moved for a byte of data: full blocks in the largest window, compressed a hundred times. */
const MOVED_PER_BYTE = (100 * LARGEST_WINDOW) / LARGEST_BLOCK

/** Returns checks of Zstandard data. With `keepsWindow`, the decompressor keeps the window of a frame, and moves it with every block. */
export function createFrameChecks({ keepsWindow }: { readonly keepsWindow: boolean }): FrameChecks {
  /** The bytes of the header that is being read. */
  let header: number[] = []
  let skipped = 0
  let received = 0
  let frames = 0
  let content: number | undefined = 0
  let moved = 0
  let frame: Frame | undefined
  /** Returns how many bytes after the complete header belong to it; undefined if it is not complete. */
  const readFrame = (): number | undefined => {
    const found = frameOf(header)
    if (found === undefined || typeof found === 'number') return found
    if (keepsWindow && found.window > LARGEST_WINDOW)
      throw new ContainerError(
        `a Zstandard window of at most ${LARGEST_WINDOW / 2 ** 20} MiB`,
        'a larger one',
        'Decompress it yourself: `zstd -d --long=31`.',
      )
    frame = found
    frames++
    content = content === undefined || found.content === undefined ? undefined : content + found.content
    return 0
  }
  const readBlock = ({ window, hasChecksum }: Frame): number | undefined => {
    if (header.length < BLOCK_HEADER) return undefined
    const bits = numberIn(header)
    const [type, size] = [(bits >> 1) & 3, bits >> 3]
    if (size > Math.min(window, LARGEST_BLOCK))
      throw new ContainerError(
        'Zstandard blocks of at most 128 KiB',
        'a larger one',
        'The file is damaged, or made to waste memory: copy it again.',
      )
    if (keepsWindow) moved += window
    if (moved > FEW_MOVED_BYTES + received * MOVED_PER_BYTE)
      throw new ContainerError(
        'Zstandard blocks in a window of their size',
        `many small ones in a window of ${Math.ceil(window / 2 ** 20)} MiB`,
        'If you trust the file, decompress it yourself: `zstd -d --long=27`.',
      )
    const isLast = (bits & 1) === 1
    if (isLast) frame = undefined
    return (type === REPEATED ? 1 : size) + (isLast && hasChecksum ? CHECKSUM : 0)
  }
  return {
    add(piece) {
      received += piece.length
      for (let at = 0; at < piece.length; ) {
        const passed = Math.min(skipped, piece.length - at)
        at += passed
        skipped -= passed
        if (at === piece.length) return
        header.push(uint8At(piece, at))
        at++
        const rest = frame ? readBlock(frame) : readFrame()
        if (rest === undefined) continue
        header = []
        skipped = rest
      }
    },
    frames: () => frames,
    contentBytes: () => content,
  }
}

const BLOCK_HEADER = 3
const CHECKSUM = 4
/** Type of a block that repeats one byte. */
const REPEATED = 1

interface Frame {
  /** The window in bytes. That of a frame of a single segment is its content. */
  readonly window: number
  readonly content: number | undefined
  readonly hasChecksum: boolean
}

/**
 * Returns the frame of a header; the number of bytes that follow the header of a frame to skip, or of data that are no frame; and undefined
 * if the header is not complete.
 */
function frameOf(header: readonly number[]): Frame | number | undefined {
  if (header.length < 5) return undefined
  const magic = numberIn(header.slice(0, 4))
  if (magic !== MAGIC) {
    // The decompressor refuses data that are no frame.
    if (magic - (magic % 16) !== SKIPPED_MAGIC) return Number.POSITIVE_INFINITY
    return header.length < 8 ? undefined : numberIn(header.slice(4, 8))
  }
  const descriptor = elementAt(header, 4)
  const isSingleSegment = (descriptor & 32) !== 0
  const dictionaryLength = (1 << (descriptor & 3)) >> 1
  const contentAt = (isSingleSegment ? 5 : 6) + dictionaryLength
  const contentLength = descriptor >> 6 === 0 ? Number(isSingleSegment) : 1 << (descriptor >> 6)
  if (header.length < contentAt + contentLength) return undefined
  const written = numberIn(header.slice(contentAt)) + (contentLength === 2 ? 256 : 0)
  const windowByte = elementAt(header, 5)
  const base = 2 ** (10 + (windowByte >> 3))
  return {
    window: isSingleSegment ? written : base + (base / 8) * (windowByte & 7),
    // A frame with a window may name no content although it has one.
    content: contentLength === 0 || (written === 0 && !isSingleSegment) ? undefined : written,
    hasChecksum: (descriptor & 4) !== 0,
  }
}

const MAGIC = 0xfd2fb528
const SKIPPED_MAGIC = 0x184d2a50

/** Returns the number of bytes with the least first. */
const numberIn = (bytes: readonly number[]): number => bytes.reduceRight((sum, byte) => sum * 256 + byte, 0)

/**
 * Reads the whole numbers of Parquet that are written as runs of equal ones and as groups of eight in few bits: levels of lists and nulls,
 * and indexes of dictionaries. A run may have millions of numbers, so they are read in parts.
 */

/** Reads numbers from the first to the last. */
export interface LevelReader {
  /** Returns the next numbers, in a list that the next call uses again. Throws if there are fewer. */
  next(count: number): number[]
  /** Returns how many of the next numbers are another one. */
  countOther(count: number, than: number): number
  /** Returns a reader at the same position. */
  copy(): LevelReader
}

/** Returns a reader of numbers from 0 to `most`, which determines their bits. */
export function createLevelReader(bytes: Uint8Array, most: number, start: LevelState = BEGINNING): LevelReader {
  const width = Math.ceil(Math.log2(most + 1))
  const [size, whole] = [Math.ceil(width / 8), 2 ** width]
  let { at, run, value, packed, buffer, bits } = start

  const byteAt = (index: number): number => {
    const byte = bytes[index]
    if (byte === undefined) throw new RangeError('levels or indexes that end early')
    return byte
  }

  const readHeader = (): void => {
    let header = 0
    for (let shift = 0; ; shift += 7) {
      const byte = byteAt(at++)
      header += (byte & 127) * 2 ** shift
      if (byte < 128) break
    }
    const count = Math.floor(header / 2)
    if (header % 2 === 1) {
      packed = count * 8
      buffer = 0
      bits = 0
      return
    }
    run = count
    value = 0
    for (let index = 0; index < size; index++) value += byteAt(at++) * 2 ** (8 * index)
  }

  const readPacked = (): number => {
    for (; bits < width; bits += 8) buffer += byteAt(at++) * 2 ** bits
    const number = buffer % whole
    buffer = Math.floor(buffer / whole)
    bits -= width
    packed--
    return number
  }

  /** Begins the next run or groups if none is under way. Numbers without bits are one run. */
  const begin = (count: number): void => {
    if (run > 0 || packed > 0) return
    if (width === 0) run = count
    else readHeader()
  }

  /** A new list for each call would be most of the garbage of a file. */
  const numbers: number[] = []
  const next = (count: number): number[] => {
    let filled = 0
    while (filled < count) {
      begin(count)
      for (; run > 0 && filled < count; run--) numbers[filled++] = value
      while (packed > 0 && filled < count) numbers[filled++] = readPacked()
    }
    numbers.length = count
    return numbers
  }

  return {
    next,
    countOther(count, than) {
      let other = 0
      for (let left = count; left > 0; ) {
        begin(left)
        // A damaged file may have a run of billions.
        const equal = Math.min(run, left)
        if (value !== than) other += equal
        run -= equal
        left -= equal
        for (; packed > 0 && left > 0; left--) if (readPacked() !== than) other++
      }
      return other
    },
    copy: () => createLevelReader(bytes, most, { at, run, value, packed, buffer, bits }),
  }
}

interface LevelState {
  readonly at: number
  /** Numbers left of a run, and which. */
  readonly run: number
  readonly value: number
  /** Numbers left in groups. */
  readonly packed: number
  /** Bits that were read and not used, and how many. */
  readonly buffer: number
  readonly bits: number
}

const BEGINNING: LevelState = { at: 0, run: 0, value: 0, packed: 0, buffer: 0, bits: 0 }

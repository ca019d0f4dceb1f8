/** Tests the checks of Zstandard frames with data of the real library, and with frames that name too much. */
import { constants, zstdCompressSync } from 'node:zlib'
import { CompressionType, setCompressionCodec, tableFromArrays, tableToIPC } from '@uwdata/flechette'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LIMITS } from '#lib/util/limits.ts'
import { readArrow } from './arrow.ts'
import { unzstd } from './compressed.ts'
import { type ByteSource, createBudget, joined, memoryTools } from './container.ts'
import { openParquet } from './parquet.ts'
import { createFrameChecks } from './zstd-frames.ts'

const golden = (await import('../golden/containers.json', { with: { type: 'json' } })).default.files
const file = (name: keyof typeof golden) => Buffer.from(golden[name], 'base64')

const sourceOf = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  read: async (start, end) => bytes.subarray(start, end),
})
const unpacked = async (bytes: Uint8Array) =>
  Buffer.from(joined(await Array.fromAsync(unzstd(sourceOf(bytes), createBudget(LIMITS)))))

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd]
/** Header of a frame with a window: its exponent above 10 and eighths, as the format writes them. */
const windowed = (exponent: number, eighths = 0) => [...MAGIC, 0, ((exponent - 10) << 3) | eighths]
/** A block that repeats a byte. */
const repeated = (size: number, isLast = false) => {
  const bits = (size << 3) | 2 | Number(isLast)
  return [bits & 255, (bits >> 8) & 255, bits >> 16, 120]
}
const many = (count: number, bytes: readonly number[]) => Array.from({ length: count }, () => bytes).flat()

describe('Zstandard frames', () => {
  const content = fc.uint8Array({ maxLength: 400 })
  const params = fc.record({
    checksum: fc.boolean(),
    names: fc.boolean(),
    window: fc.constantFrom(10, 17, 27),
  })
  test('of the library are accepted in any pieces, and their contents and sizes are found', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(content, params), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async (contents, piece, skips) => {
          const frames = contents.map(([bytes, { checksum, names, window }]) =>
            zstdCompressSync(bytes, {
              params: {
                [constants.ZSTD_c_checksumFlag]: Number(checksum),
                [constants.ZSTD_c_contentSizeFlag]: Number(names),
                [constants.ZSTD_c_windowLog]: window,
              },
            }),
          )
          const skipped = Buffer.from(skips ? [0x5f, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9] : [])
          const all = Buffer.concat([skipped, ...frames])
          const checks = createFrameChecks({ keepsWindow: true })
          for (let at = 0; at < all.length; at += piece) checks.add(all.subarray(at, at + piece))
          expect(checks.frames()).toBe(frames.length)
          const whole = Buffer.concat(contents.map(([bytes]) => bytes))
          const namesAll = contents.every(([bytes, { names }]) => names && bytes.length > 0)
          if (namesAll) expect(checks.contentBytes()).toBe(whole.length)
          expect([undefined, whole.length]).toContain(checks.contentBytes())
          expect(await unpacked(all)).toEqual(whole)
        },
      ),
    )
  })

  test('of a large content are accepted', async () => {
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index) % 251))
    expect(await unpacked(zstdCompressSync(content))).toEqual(content)
  })

  test.each([
    ['a block of 2 MiB', [...windowed(27), ...repeated(2 ** 21 - 1)], 'blocks of at most 128 KiB'],
    ['a block that is larger than the window', [...windowed(10), ...repeated(1025)], 'blocks of at most 128 KiB'],
    ['a window of gigabytes', [...windowed(30), ...repeated(1, true)], 'a Zstandard window of at most 128 MiB'],
    ['a window of eighths more', [...windowed(27, 1), ...repeated(1, true)], 'a Zstandard window of at most 128 MiB'],
    [
      'a window of gigabytes in the second frame',
      [...windowed(10), ...repeated(1, true), ...windowed(30), ...repeated(1, true)],
      'a Zstandard window of at most 128 MiB',
    ],
    [
      'thousands of tiny blocks in a large window',
      [...windowed(27), ...many(5_000, repeated(1))],
      'blocks in a window of their size',
    ],
    [
      'thousands of tiny frames with a large window',
      many(5_000, [...windowed(27), ...repeated(0, true)]),
      'blocks in a window of their size',
    ],
  ])('with %s are refused before they are decompressed', async (_what, bytes, message) => {
    const checks = createFrameChecks({ keepsWindow: true })
    expect(() => checks.add(Uint8Array.from(bytes))).toThrow(message)
    await expect(unpacked(Uint8Array.from(bytes))).rejects.toThrow(message)
  })

  test('of other data are left to the decompressor, which refuses them', async () => {
    await expect(unpacked(Buffer.from('no Zstandard data at all'))).rejects.toThrow('invalid zstd data')
  })
})

/** Writes these bytes over the first block of each frame that has room for them. */
function withBlocks(bytes: Buffer, blocks: readonly number[]): Buffer {
  const changed = Buffer.from(bytes)
  const frames = Buffer.from(MAGIC)
  for (let at = bytes.indexOf(frames); at >= 0; at = bytes.indexOf(frames, at + 1)) {
    const descriptor = changed[at + 4] ?? 0
    const isSingleSegment = (descriptor & 32) !== 0
    const sizeBytes = descriptor >> 6 === 0 ? Number(isSingleSegment) : 1 << (descriptor >> 6)
    const blockAt = at + (isSingleSegment ? 5 : 6) + sizeBytes
    if (bytes.readUIntLE(blockAt, 3) >> 3 >= blocks.length) changed.set(blocks, blockAt)
  }
  return changed
}

/** Reads all rows of the Parquet file with other blocks. */
async function parquetRows(blocks: readonly number[]): Promise<void> {
  const table = await openParquet(sourceOf(withBlocks(file('zstd.parquet'), blocks)), createBudget(LIMITS))
  for await (const batch of table.batches()) expect([...batch.rows].every(({ ok }) => ok)).toBe(true)
}

const arrowRows = (bytes: Uint8Array) => {
  const open = { bytes: sourceOf(bytes), tools: memoryTools, budget: createBudget(LIMITS) }
  return Array.fromAsync(readArrow(open), async (entry) =>
    entry.kind === 'rows' ? Array.fromAsync(entry.rows, (row) => (row.ok ? row.value : row.error)) : [],
  )
}

describe('A table with Zstandard buffers', () => {
  test('is refused if a block is larger than the format allows', async () => {
    const large = repeated(2 ** 21 - 1)
    await expect(arrowRows(withBlocks(file('zstd.arrow'), large))).rejects.toThrow('blocks of at most 128 KiB')
    await expect(parquetRows(large)).rejects.toThrow('blocks of at most 128 KiB')
  })

  test('is refused if a page of Parquet has several frames', async () => {
    const two = [...repeated(1, true), ...windowed(10), ...repeated(1, true)]
    await expect(parquetRows(two)).rejects.toThrow('several Zstandard frames in a page')
  })

  const written = (encode: (data: Uint8Array) => Uint8Array) => {
    setCompressionCodec(CompressionType.ZSTD, { encode, decode: (data) => data })
    const numbers = Int32Array.from({ length: 500 }, (_, index) => index % 7)
    return tableToIPC(tableFromArrays({ a: numbers }), { codec: CompressionType.ZSTD }) ?? new Uint8Array()
  }
  const first = (rows: readonly (readonly unknown[])[]) => rows[0]?.slice(0, 3)

  test.each([1, 0])('is read from Arrow whether or not its frames name their sizes (%i)', async (names) => {
    const bytes = written((data) => zstdCompressSync(data, { params: { [constants.ZSTD_c_contentSizeFlag]: names } }))
    expect(first(await arrowRows(bytes))).toEqual([{ a: 0 }, { a: 1 }, { a: 2 }])
  })

  test('is refused from Arrow if a frame names gigabytes, or a window of gigabytes', async () => {
    const gigabytes = [...MAGIC, 0xe0, 0, 0, 0, 0, 2, 0, 0, 0, ...repeated(1, true)]
    await expect(arrowRows(written(() => Uint8Array.from(gigabytes)))).rejects.toThrow('at most 2 GiB')
    const large = [...windowed(30), ...repeated(1, true)]
    await expect(arrowRows(written(() => Uint8Array.from(large)))).rejects.toThrow('window of at most 128 MiB')
    // The size 0 would make the decompressor keep the window.
    const empty = [...MAGIC, 0x80, (20 << 3) & 255, 0, 0, 0, 0, ...repeated(1, true)]
    await expect(arrowRows(written(() => Uint8Array.from(empty)))).rejects.toThrow('window of at most 128 MiB')
  })
})

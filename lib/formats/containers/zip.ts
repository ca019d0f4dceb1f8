/** Reads zip archives by their central directory: stored, deflate and Zstandard entries, as in `.eval` files of Inspect. */
import { inflated, unzstd } from './compressed.ts'
import {
  type Budget,
  BudgetError,
  type ByteSource,
  byteRange,
  ContainerError,
  copyOf,
  piecesOf,
  type ReadContainer,
} from './container.ts'
import { createCrc32 } from './crc32.ts'

/** Yields the files of an archive in the order of its directory. */
export const readZip: ReadContainer = async function* ({ bytes, tools, budget }) {
  for (const entry of await directoryOf(bytes)) {
    if (entry.name.endsWith('/')) continue
    try {
      yield { kind: 'file', name: entry.name, bytes: await tools.keep(contentOf(bytes, entry, budget)) }
    } catch (error) {
      if (!(error instanceof ContainerError) || error instanceof BudgetError) throw error
      yield { kind: 'failed', name: entry.name, error }
    }
  }
}

interface ZipEntry {
  readonly name: string
  readonly method: number
  readonly isEncrypted: boolean
  readonly crc: number
  readonly compressedSize: number
  readonly size: number
  /** Position of the header before its data. */
  readonly start: number
}

const [STORED, DEFLATE, ZSTANDARD] = [0, 8, 93] as const
/** The system of an archive whose names may contain backslashes. Windows PowerShell 5.1 separates folders with them. */
const UNIX = 3

async function* contentOf(bytes: ByteSource, entry: ZipEntry, budget: Budget): AsyncGenerator<Uint8Array> {
  const { name, method, isEncrypted, compressedSize, start, crc, size } = entry
  if (isEncrypted)
    throw new ContainerError('a zip archive without a password', 'an encrypted entry', 'Decrypt it first.')
  const header = await viewOf(bytes, start, start + LOCAL_HEADER)
  if (header.getUint32(0, true) !== LOCAL_SIGNATURE) throw broken(`no header of ${JSON.stringify(name)}`)
  const from = start + LOCAL_HEADER + header.getUint16(26, true) + header.getUint16(28, true)
  if (from + compressedSize > bytes.size) throw broken(`the end before the data of ${JSON.stringify(name)}`)
  const data = byteRange(bytes, from, from + compressedSize)
  const checksum = createCrc32()
  let length = 0
  for await (const part of unpacked(data, method, budget)) {
    checksum.add(part)
    length += part.length
    yield part
  }
  if (length !== size || checksum.value() !== crc) throw broken(`another checksum than that of ${JSON.stringify(name)}`)
}

function unpacked(data: ByteSource, method: number, budget: Budget): AsyncGenerator<Uint8Array> {
  switch (method) {
    case STORED:
      return stored(data, budget)
    case DEFLATE:
      return inflated(data, budget)
    case ZSTANDARD:
      return unzstd(data, budget)
    default:
      throw new ContainerError(
        'a zip archive with stored, deflate or Zstandard entries',
        `compression method ${method}`,
        'Write it again with one of these methods.',
      )
  }
}

async function* stored(data: ByteSource, budget: Budget): AsyncGenerator<Uint8Array> {
  for await (const piece of piecesOf(data)) {
    budget.count(piece.length, piece.length)
    yield piece
  }
}

const LOCAL_HEADER = 30
const LOCAL_SIGNATURE = 0x04034b50
const DIRECTORY_SIGNATURE = 0x02014b50
const DIRECTORY_ENTRY = 46
const END_SIGNATURE = 0x06054b50
const END = 22
const END_64_SIGNATURE = 0x06064b50
const END_64 = 56
const LOCATOR_64_SIGNATURE = 0x07064b50
const LOCATOR_64 = 20
/** The end of the directory is followed by a comment of at most this length. */
const LONGEST_COMMENT = 0xffff
const LARGEST_DIRECTORY = 64 * 2 ** 20

async function directoryOf(bytes: ByteSource): Promise<readonly ZipEntry[]> {
  const { start, size } = await directoryPlace(bytes)
  if (size > LARGEST_DIRECTORY || start + size > bytes.size) throw broken('a directory beyond its end')
  const view = await viewOf(bytes, start, start + size)
  const entries: ZipEntry[] = []
  for (let at = 0; at + DIRECTORY_ENTRY <= size; ) {
    if (view.getUint32(at, true) !== DIRECTORY_SIGNATURE) throw broken('a damaged directory')
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) =>
      view.getUint16(at + offset, true),
    ) as [number, number, number]
    const end = at + DIRECTORY_ENTRY + nameLength + extraLength + commentLength
    if (end > size) throw broken('a damaged directory')
    const nameAt = view.byteOffset + at + DIRECTORY_ENTRY
    const long = longSizes(view, at, at + DIRECTORY_ENTRY + nameLength, extraLength)
    const name = new TextDecoder().decode(new Uint8Array(view.buffer, nameAt, nameLength))
    entries.push({
      name: view.getUint8(at + 5) === UNIX ? name : name.replaceAll('\\', '/'),
      isEncrypted: (view.getUint16(at + 8, true) & 1) === 1,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      ...long,
    })
    at = end
  }
  return entries
}

/** Returns sizes and position of an entry; those above 4 GiB are in an extra field. */
function longSizes(view: DataView, at: number, extraAt: number, extraLength: number) {
  const values = {
    compressedSize: view.getUint32(at + 20, true),
    size: view.getUint32(at + 24, true),
    start: view.getUint32(at + 42, true),
  }
  for (let field = extraAt; field + 4 <= extraAt + extraLength; ) {
    const [id, length] = [view.getUint16(field, true), view.getUint16(field + 2, true)]
    let value = field + 4
    if (id === 1)
      for (const key of ['size', 'compressedSize', 'start'] as const)
        if (values[key] === 0xffff_ffff && value + 8 <= Math.min(field + 4 + length, extraAt + extraLength)) {
          values[key] = Number(view.getBigUint64(value, true))
          value += 8
        }
    field += 4 + length
  }
  return values
}

async function directoryPlace(bytes: ByteSource): Promise<{ readonly start: number; readonly size: number }> {
  const from = Math.max(0, bytes.size - END - LONGEST_COMMENT)
  const view = await viewOf(bytes, from, bytes.size)
  for (let at = view.byteLength - END; at >= 0; at--) {
    if (view.getUint32(at, true) !== END_SIGNATURE) continue
    const [size, start] = [view.getUint32(at + 12, true), view.getUint32(at + 16, true)]
    if (start !== 0xffff_ffff && size !== 0xffff_ffff) return { start, size }
    return longDirectoryPlace(bytes, from + at - LOCATOR_64)
  }
  throw broken('no directory at its end')
}

async function longDirectoryPlace(bytes: ByteSource, locatorAt: number) {
  const locator = await viewOf(bytes, locatorAt, locatorAt + LOCATOR_64)
  if (locator.getUint32(0, true) !== LOCATOR_64_SIGNATURE) throw broken('a damaged directory')
  const endAt = Number(locator.getBigUint64(8, true))
  const end = await viewOf(bytes, endAt, endAt + END_64)
  if (end.getUint32(0, true) !== END_64_SIGNATURE) throw broken('a damaged directory')
  return { size: Number(end.getBigUint64(40, true)), start: Number(end.getBigUint64(48, true)) }
}

/** Returns a view of a copy, since a further read may overwrite the bytes. Throws ContainerError beyond the end. */
async function viewOf(bytes: ByteSource, start: number, end: number): Promise<DataView> {
  if (start < 0 || end > bytes.size) throw broken('a header beyond its end')
  const copy = copyOf(await bytes.read(start, end))
  return new DataView(copy.buffer, copy.byteOffset, copy.byteLength)
}

const broken = (found: string): ContainerError =>
  new ContainerError('a whole zip archive', found, 'The archive is cut off or damaged: copy it again.')

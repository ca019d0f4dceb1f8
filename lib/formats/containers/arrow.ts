/** Reads Arrow files and streams row by row, one record batch after the other. */
import { CompressionType, setCompressionCodec, tableFromIPC } from '@uwdata/flechette'
import { Decompress, decompress } from 'fzstd'
import {
  type Budget,
  type ByteSource,
  ContainerError,
  copyOf,
  joined,
  type ReadContainer,
  type Row,
} from './container.ts'
import { jsonRow } from './json-value.ts'
import { createFrameChecks } from './zstd-frames.ts'

/** Bytes of one message: a schema, a dictionary or a batch of rows. */
const LARGEST_MESSAGE = 256 * 2 ** 20
const CONTINUATION = 0xffff_ffff
/** In a file, the messages follow the word ARROW1 and precede a footer. They are those of a stream. */
const MAGIC = 8

/** Yields the rows of the file or stream. */
export const readArrow: ReadContainer = async function* ({ bytes, budget }) {
  yield { kind: 'rows', name: undefined, rows: rowsOf(bytes, budget) }
}

async function* rowsOf(bytes: ByteSource, budget: Budget): AsyncGenerator<Row> {
  registerCodecs(budget)
  /** The schema and the dictionaries, which each batch needs. */
  const before: Uint8Array[] = []
  for await (const { kind, at, message } of messagesOf(bytes)) {
    if (kind !== 'batch') {
      before.push(message)
      continue
    }
    const where = `the batch at byte ${at + 1}`
    const table = orBroken(where, () =>
      tableFromIPC([...before, message], { useBigInt: true, useDate: true, useMap: true }),
    )
    for (const column of table.children) for (const batch of column.data) orBroken(where, () => checkLists(batch))
    const rows = table[Symbol.iterator]()
    for (;;) {
      const next = orBroken(where, () => rows.next())
      if (next.done) break
      const { value } = next
      yield orBroken(where, () => jsonRow(value))
    }
  }
  if (before.length === 0) throw broken('no schema')
}

interface Message {
  readonly kind: 'schema' | 'dictionary' | 'batch'
  /** Position of the message in the file. */
  readonly at: number
  /** The message with its header. */
  readonly message: Uint8Array
}

async function* messagesOf(bytes: ByteSource): AsyncGenerator<Message> {
  const beginning = new TextDecoder().decode(await bytes.read(0, Math.min(6, bytes.size)))
  const start = beginning === 'ARROW1' ? MAGIC : 0
  const bare = start === MAGIC ? await bareSchema(bytes) : undefined
  if (bare) {
    yield bare.schema
    for (const at of bare.others) {
      const other = at > MAGIC && at + 8 <= bytes.size ? await messageAt(bytes, at) : undefined
      if (!other) throw broken('a message beyond its end')
      yield other
    }
    return
  }
  for (let at = start; at + 8 <= bytes.size; ) {
    const next = await messageAt(bytes, at)
    if (!next) return
    yield next
    at += next.message.length
  }
}

/** Reads the message at a position; undefined at the end of a stream. */
async function messageAt(bytes: ByteSource, at: number): Promise<Message | undefined> {
  const head = viewOf(copyOf(await bytes.read(at, at + 8)))
  if (head.getUint32(0, true) !== CONTINUATION) throw broken(`no message (byte ${at + 1})`)
  const length = head.getInt32(4, true)
  if (length === 0) return undefined
  const bodyAt = at + 8 + length
  if (length < 0 || bodyAt > bytes.size) throw broken('a message beyond its end')
  const metadata = viewOf(copyOf(await bytes.read(at + 8, bodyAt)))
  const { type, bodyLength, longest, isCompressed } = orBroken(`the message at byte ${at + 1}`, () =>
    headerOf(metadata),
  )
  // An entry takes at least a bit. Compressed, it may take less.
  const most = FEW_ENTRIES + bodyLength * 8 * (isCompressed ? 100 : 1)
  if (longest > Math.min(most, MOST_ENTRIES)) throw tooManyEntries()
  const end = bodyAt + bodyLength
  if (end > bytes.size || bodyLength < 0) throw broken('a message beyond its end')
  if (end - at > LARGEST_MESSAGE)
    throw new ContainerError('batches of at most 256 MiB', 'a larger one', 'Write the table with smaller batches.')
  const kind = KINDS[type]
  if (!kind) throw new ContainerError('an Arrow table', 'a tensor', 'Write its numbers as a column of a table.')
  return { kind, at, message: copyOf(await bytes.read(at, end)) }
}

/** A schema, and the positions of the dictionaries and then of the batches. */
interface BareSchema {
  readonly schema: Message
  readonly others: readonly number[]
}

/**
 * Returns the schema of a file that has it without the marker and the length of a message. Polars writes such files, whose footer names the
 * positions of all other messages. A dictionary may follow its batches.
 */
async function bareSchema(bytes: ByteSource): Promise<BareSchema | undefined> {
  const head = copyOf(await bytes.read(MAGIC, Math.min(MAGIC + 4, bytes.size)))
  if (head.length < 4 || viewOf(head).getUint32(0, true) === CONTINUATION) return undefined
  const end = bytes.size - TAIL
  const footerAt = end - viewOf(copyOf(await bytes.read(end, bytes.size))).getInt32(0, true)
  if (footerAt <= MAGIC || footerAt > end) throw broken(`no message (byte ${MAGIC + 1})`)
  const footer = viewOf(copyOf(await bytes.read(footerAt, end)))
  const others = orBroken('the footer', () => blocksOf(footer))
  const schemaEnd = others.reduce((first, at) => (at > MAGIC && at < first ? at : first), footerAt)
  const metadata = copyOf(await bytes.read(MAGIC, schemaEnd))
  const { type } = orBroken('the schema', () => headerOf(viewOf(metadata)))
  if (KINDS[type] !== 'schema') throw broken(`no message (byte ${MAGIC + 1})`)
  const marker = new Uint8Array(8)
  viewOf(marker).setUint32(0, CONTINUATION, true)
  viewOf(marker).setInt32(4, metadata.length, true)
  return { schema: { kind: 'schema', at: MAGIC, message: joined([marker, metadata]) }, others }
}

/** Bytes after the footer: its length and the word ARROW1. */
const TAIL = 10

/** Returns the positions of the dictionaries and of the batches that a footer names. */
function blocksOf(footer: DataView): readonly number[] {
  const table = tableAt(footer, footer.getInt32(0, true))
  return [table(8), table(10)].flatMap((at) => {
    const entries = elementsAt(footer, at)
    return entries.map((entry, index) => Number(footer.getBigInt64(entry + index * (BLOCK - ELEMENT), true)))
  })
}

/** Bytes of a block in a footer, and of an element of other vectors. */
const BLOCK = 24
const ELEMENT = 4

const KINDS: readonly (Message['kind'] | undefined)[] = [undefined, 'schema', 'dictionary', 'batch']

/** Columns of nulls may have this many entries, although they have no bytes. */
const FEW_ENTRIES = 10_000

/** Entries of a column of a batch, or of a dictionary. */
const MOST_ENTRIES = 10_000_000

const tooManyEntries = (): ContainerError =>
  new ContainerError(
    `at most ${MOST_ENTRIES} entries in a column of a batch`,
    'more',
    'The file is damaged, or its batches are too large: write the table with smaller ones.',
  )

interface MessageHeader {
  readonly type: number
  /** Length of the body after the message. */
  readonly bodyLength: number
  /** Number of entries of its longest column, as the file gives it. */
  readonly longest: number
  readonly isCompressed: boolean
}

/** Reads some fields of a message, a table of FlatBuffers. The library trusts them. */
function headerOf(view: DataView): MessageHeader {
  const message = tableAt(view, view.getInt32(0, true))
  const [typeAt, headerAt, lengthAt] = [message(6), message(8), message(10)]
  const type = typeAt === undefined ? 0 : view.getUint8(typeAt)
  const bodyLength = lengthAt === undefined ? 0 : Number(view.getBigInt64(lengthAt, true))
  const kind = KINDS[type]
  if (headerAt === undefined || kind === undefined) return { type, bodyLength, longest: 0, isCompressed: false }
  const header = tableAt(view, headerAt + view.getInt32(headerAt, true))
  if (kind === 'schema') {
    checkSchema(view, header)
    return { type, bodyLength, longest: 0, isCompressed: false }
  }
  const batchAt = kind === 'dictionary' ? header(6) : undefined
  const batch = batchAt === undefined ? header : tableAt(view, batchAt + view.getInt32(batchAt, true))
  for (const field of [6, 8, 12]) elementsAt(view, batch(field))
  const [rowsAt, nodesAt] = [batch(4), batch(6)]
  const lengths = [rowsAt === undefined ? 0 : Number(view.getBigInt64(rowsAt, true))]
  if (nodesAt !== undefined) {
    const nodes = nodesAt + view.getInt32(nodesAt, true)
    const count = view.getInt32(nodes, true)
    for (let index = 0; index < count; index++)
      lengths.push(Number(view.getBigInt64(nodes + 4 + index * FIELD_NODE, true)))
  }
  // A negative length is as wrong as one that is too large.
  const longest = lengths.reduce((most, length) => (length < 0 ? Number.POSITIVE_INFINITY : Math.max(most, length)), 0)
  return { type, bodyLength, longest, isCompressed: batch(10) !== undefined }
}

/** Returns the positions of the elements of a vector. Throws if the vector is longer than the message. */
function elementsAt(view: DataView, at: number | undefined): readonly number[] {
  if (at === undefined) return []
  const vector = at + view.getInt32(at, true)
  const count = view.getInt32(vector, true)
  if (count < 0 || count * 4 > view.byteLength - vector) throw broken('a list of fields beyond its message')
  return Array.from({ length: count }, (_, index) => vector + 4 + index * 4)
}

/** Compares the lengths in a schema with that of the message: the library creates lists of these lengths. */
function checkSchema(view: DataView, schema: (field: number) => number | undefined): void {
  let left = MOST_FIELDS
  const check = (fields: readonly number[], depth: number): void => {
    left -= fields.length
    if (left < 0 || depth > DEEPEST_FIELD) throw broken('more fields than a table has')
    for (const at of fields) {
      const field = tableAt(view, at + view.getInt32(at, true))
      const typeAt = field(8)
      if (typeAt !== undefined && UNREADABLE.has(view.getUint8(typeAt)))
        throw new ContainerError(
          'lists, texts, numbers and objects',
          'a column of a union or of runs',
          'Convert the column.',
        )
      elementsAt(view, field(16))
      check(elementsAt(view, field(14)), depth + 1)
    }
  }
  elementsAt(view, schema(8))
  check(elementsAt(view, schema(6)), 0)
}

const MOST_FIELDS = 10_000
const DEEPEST_FIELD = 50
/** Numbers of the types Union and RunEndEncoded in the format. */
const UNREADABLE = new Set([14, 22])

/** Bytes of a length and of a number of nulls. */
const FIELD_NODE = 16

/** Returns the positions of the fields of a table. */
function tableAt(view: DataView, table: number): (field: number) => number | undefined {
  const fields = table - view.getInt32(table, true)
  const size = view.getInt16(fields, true)
  return (field) => {
    const at = field < size ? view.getInt16(fields + field, true) : 0
    return at === 0 ? undefined : table + at
  }
}

/** The part of the batches of the library that has lists. */
interface ListPart {
  readonly length: number
  readonly offsets?: ArrayLike<number | bigint> | undefined
  readonly sizes?: ArrayLike<number | bigint> | undefined
  readonly children?: readonly ListPart[] | undefined
  /** Number of values of each list of a fixed length. */
  readonly stride?: number | undefined
}

/** Throws if a list ends beyond its values: the library would create an array of this length. */
function checkLists({ length, offsets, sizes, children = [], stride = 0 }: ListPart): void {
  for (const child of children) checkLists(child)
  const [child] = children
  if (child && length * stride > child.length) throw broken('a list beyond its values')
  if (!child || !offsets) return
  for (let index = 0; index < length; index++) {
    const start = Number(offsets[index])
    const end = sizes ? start + Number(sizes[index]) : Number(offsets[index + 1])
    if (!(start >= 0 && end >= start && end <= child.length)) throw broken('a list beyond its values')
  }
}

/** The library has one table of codecs for all files. A buffer begins with its size, which the library removes. */
function registerCodecs(budget: Budget): void {
  // Nothing is written.
  setCompressionCodec(CompressionType.ZSTD, { decode: (data) => unzstdBuffer(data, budget), encode: refuseLz4 })
  setCompressionCodec(CompressionType.LZ4_FRAME, { decode: refuseLz4, encode: refuseLz4 })
}

/** Returns the content of a buffer in a buffer of its own, since columns are views of aligned buffers. */
function unzstdBuffer(data: Uint8Array, budget: Budget): Uint8Array {
  const checks = createFrameChecks({ keepsWindow: false })
  checks.add(data)
  const size = checks.contentBytes()
  budget.count(size ?? 0, data.length)
  if (size !== undefined) return copyOf(decompress(data))
  // Some writers do not name the size, which is then counted block by block.
  createFrameChecks({ keepsWindow: true }).add(data)
  const parts: Uint8Array[] = []
  const decompressor = new Decompress((part) => {
    budget.count(part.length, 0)
    parts.push(part)
  })
  decompressor.push(data, true)
  return joined(parts)
}

/** The known library for LZ4 frames does not end for some damaged data. */
function refuseLz4(): never {
  throw new ContainerError(
    'an Arrow file without LZ4',
    'one with LZ4',
    'Write it again with pyarrow: `table = pyarrow.ipc.open_stream(FILE).read_all()` reads a stream and `open_file` a file; `pyarrow.feather.write_feather(table, NEW, compression="zstd")` writes it.',
  )
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Runs a step of the library, whose errors are those of the file at this place. Their words are about JavaScript. */
function orBroken<T>(where: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    if (error instanceof ContainerError) throw error
    throw broken(`unreadable bytes in ${where}`)
  }
}

const broken = (found: string): ContainerError =>
  new ContainerError('a whole Arrow file', found, 'The file is cut off or damaged: write or copy it again.')

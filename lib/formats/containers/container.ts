/** The interface of containers: files that hold other files, or rows, in a compressed or binary form. */
import { bytesText, type Limits } from '#lib/util/limits.ts'
import type { Violation } from '#lib/util/schema-violation.ts'

/** The bytes of a file, which are read twice. */
export interface ByteSource {
  readonly size: number
  /**
   * Reads from `start` to `end`, which is at most `size`. The result may be overwritten by the next call, unless it is
   * longer than CHUNK. Rejects if the bytes cannot be read.
   */
  read(start: number, end: number): Promise<Uint8Array>
}

/** Number of bytes that are read at once, except for longer records. */
export const CHUNK = 1 << 20

/** A content of a container. */
type ContainerEntry =
  /** A file. `name` is undefined if it is the only one. It is text of the file and never a path. */
  | { readonly kind: 'file'; readonly name: string | undefined; readonly bytes: KeptBytes }
  /** A table. `name` is undefined if it is the only one. */
  | { readonly kind: 'rows'; readonly name: string | undefined; readonly rows: AsyncIterable<Row> }
  /** An entry that cannot be read; others may be. */
  | { readonly kind: 'failed'; readonly name: string; readonly error: ContainerError }

/** A row of a table as a JSON value, or why it is none. */
export type Row = { readonly ok: true; readonly value: object } | { readonly ok: false; readonly error: Violation }

/** A table whose rows can be read from any of them. */
export interface RecordTable {
  readonly rowCount: number
  /** Yields all rows, or those from a place on. Throws ContainerError if the table cannot be read further. */
  batches(from?: TablePlace): AsyncGenerator<RowBatch>
}

/** Some rows after each other. They become JSON values when they are taken. */
export interface RowBatch {
  /** The place of the first of them. */
  readonly place: TablePlace
  readonly rows: Iterable<Row>
}

/** A place in a table: a row, and where each column has it. */
export interface TablePlace {
  /** Position of the group of rows in the table, from 0. */
  readonly group: number
  /** Position of the row in its group, from 0. */
  readonly row: number
  /** Position of the row in the table, from 0. */
  readonly first: number
  /** For each column in the order of the file, the place of the row. */
  readonly pages: readonly PagePlace[]
}

/** A place in a column. */
export interface PagePlace {
  /** Position in the file of the page in which the row begins. */
  readonly start: number
  /** Number of rows that begin in this page before the row. */
  readonly before: number
}

/** Opens a file as a table. Throws ContainerError if it is none. */
export type OpenTable = (bytes: ByteSource, budget: Budget) => Promise<RecordTable>

/** Decompressed bytes, until they are closed. */
export interface KeptBytes extends ByteSource {
  close(): Promise<void>
}

/** What a container needs to be opened. */
export interface UnpackTools {
  /** Keeps decompressed bytes, on the disk or in memory. Rejects if the chunks reject. */
  keep(chunks: AsyncIterable<Uint8Array>): Promise<KeptBytes>
  /** Opens the tables of an SQLite database. Undefined where there is no SQLite. */
  readonly sqlite: ((bytes: ByteSource) => Promise<SqliteTables>) | undefined
}

/** The tables of an SQLite database. */
export interface SqliteTables {
  readonly tables: readonly {
    readonly name: string
    /** Returns the rows. One with a text that is longer than any of JavaScript is undefined. */
    readonly rows: () => Iterable<Readonly<Record<string, unknown>> | undefined>
  }[]
  close(): Promise<void>
}

/** What a container receives to yield its entries. */
interface OpenContainer {
  readonly bytes: ByteSource
  readonly tools: UnpackTools
  /** Counts decompressed bytes. Throws BudgetError if they exceed the limits. */
  readonly budget: Budget
}

/** Yields the entries of a container. Throws ContainerError if it cannot be read further. */
export type ReadContainer = (open: OpenContainer) => AsyncGenerator<ContainerEntry>

/** The problem of a container or of one of its entries. */
export class ContainerError extends Error {
  override readonly name = 'ContainerError'
  readonly violation: Violation
  readonly hint: string
  constructor(expected: string, found: string, hint: string) {
    super(`expected ${expected}, found ${found}`)
    this.violation = { path: '', expected, found }
    this.hint = hint
  }
}

/** Thrown if all containers of a file together exceed a limit: the file is refused as a whole. */
export class BudgetError extends ContainerError {}

/** Limits of decompression. */
export interface Budget {
  /** Counts bytes that were decompressed from a number of compressed ones. Throws BudgetError beyond a limit. */
  count(decompressed: number, compressed: number): void
}

/** Returns a budget for all containers of one file. */
export function createBudget({
  unpackedBytes,
  unpackedRatio,
}: Pick<Limits, 'unpackedBytes' | 'unpackedRatio'>): Budget {
  let decompressed = 0
  let compressed = 0
  return {
    count(more, from) {
      decompressed += more
      compressed += from
      if (decompressed > unpackedBytes)
        throw new BudgetError(
          `at most ${bytesText(unpackedBytes)} after decompression`,
          'more',
          'Decompress the file yourself, and open its parts one after the other.',
        )
      if (decompressed > RATIO_FROM && decompressed > compressed * unpackedRatio)
        throw new BudgetError(
          `at most ${unpackedRatio} times the compressed size`,
          'more, as in a decompression bomb',
          'If you trust the file, decompress it yourself and open the result.',
        )
    },
  }
}

/** Bytes from which the ratio is checked: small files of equal records may compress a thousand times. */
const RATIO_FROM = 64 * 2 ** 20

/** Yields the bytes of a range in pieces. */
export async function* piecesOf(
  bytes: ByteSource,
  start = 0,
  end = bytes.size,
  length = CHUNK,
): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += length) yield await bytes.read(at, Math.min(at + length, end))
}

/** Returns a copy in a buffer of its own. The method `slice` of Node’s Buffer copies nothing. */
export const copyOf = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes)

/** Returns the parts one after the other in one buffer. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** Returns a range of bytes as bytes of their own. */
export const byteRange = ({ read }: ByteSource, start: number, end: number): KeptBytes => ({
  size: end - start,
  read: (from, to) => read(start + from, start + to),
  close: async () => {},
})

/** Returns the same tools in memory, for files that are small. */
export const memoryTools: UnpackTools = {
  async keep(chunks) {
    const all = joined(await Array.fromAsync(chunks))
    return { size: all.length, read: async (start, end) => all.subarray(start, end), close: async () => {} }
  },
  sqlite: undefined,
}

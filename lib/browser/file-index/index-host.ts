/**
 * The worker's side of a file's index: reads the next records of the file when the page requests them. So a page that requests
 * nothing pauses the index, and memory is that of one slice and one record.
 */
import { ContainerError } from '#lib/formats/containers/container.ts'
import {
  type IndexEnd,
  indexRecords,
  type RowPlace,
  recordLayout,
  rowLines,
} from '#lib/formats/reading/record-index.ts'
import type { Answer } from '#lib/tasks/worker-protocol.ts'
import { fileByteSource } from '../files/file-bytes.ts'
import { FileError } from '../files/file-error.ts'
import { type FileSampleRow, fileSampleRows } from './sample-row.ts'

/** A request to the worker of an index. */
export type IndexRequest =
  /** Requests the first rows of a file, or the next ones. */
  | { readonly kind: 'rows'; readonly file?: File }
  /** Requests rows of a table as JSON lines. It needs no request before it. */
  | { readonly kind: 'records'; readonly file: File; readonly places: readonly RowPlace[] }

/** The next rows of the file, or the requested records. */
export type IndexAnswer =
  | { readonly kind: 'records'; readonly lines: Blob }
  /** The file must be opened as a whole. */
  | { readonly kind: 'whole' }
  | {
      readonly kind: 'rows'
      readonly rows: readonly FileSampleRow[]
      /** Bytes of the file that have been indexed. */
      readonly bytes: number
      /** Why these rows are the last ones; undefined if more may follow. */
      readonly end: IndexEnd | undefined
    }

/** Milliseconds of the first answer and of the longest one. A request cannot be stopped in between. */
const [FIRST_ANSWER_MS, LONGEST_ANSWER_MS] = [150, 1000]

/** Returns how long to collect rows: the page copies and sorts all rows at each answer, so answers to a longer list come less often. */
const answerMs = (rows: number): number => Math.min(FIRST_ANSWER_MS + rows / 20, LONGEST_ANSWER_MS)

/** Returns the function that answers with the next rows. `now` returns the time in milliseconds. */
export function createIndexHost(now: () => number): Answer<IndexRequest, IndexAnswer> {
  let records: ReturnType<typeof indexRecords> | undefined
  let size = 0
  let bytes = 0
  let count = 0
  return async (request) => {
    if (request.kind === 'records') return { kind: 'records', lines: await linesIn(request.file, request.places) }
    const { file } = request
    if (file) {
      const source = { file: file.name, now: new Date(file.lastModified).toISOString(), newId: () => '' }
      const layout = await recordLayout(fileByteSource(file), source)
      if (layout === 'whole') return { kind: 'whole' }
      records = indexRecords(fileByteSource(file), source, layout)
      size = file.size
      count = 0
    }
    if (!records) throw new Error('the first request has a file')
    const rows: FileSampleRow[] = []
    const until = now() + answerMs(count)
    do {
      const { done, value } = await records.next()
      if (done) return { kind: 'rows', rows, bytes: value === 'end' ? size : bytes, end: value }
      const added = fileSampleRows(value)
      rows.push(...added)
      count += added.length
      bytes = value.bytes
    } while (now() < until)
    return { kind: 'rows', rows, bytes, end: undefined }
  }
}

/** Each line is a Blob of its own, since browsers keep large Blobs on the disk. */
async function linesIn(file: File, places: readonly RowPlace[]): Promise<Blob> {
  const lines: Blob[] = []
  try {
    for await (const line of rowLines(fileByteSource(file), places)) lines.push(new Blob([line]))
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error
    throw new FileError(`${file.name} cannot be read: ${error.message}`, error.hint)
  }
  return new Blob(lines)
}

/**
 * The worker's side of a file's index: reads the next records of the file when the page requests them. So a page that requests
 * nothing pauses the index, and memory is that of one slice and one record.
 */
import { type IndexEnd, indexRecords, recordLayout } from '#lib/formats/reading/record-index.ts'
import type { Answer } from '#lib/tasks/worker-protocol.ts'
import { bytesOf } from '../files/file-bytes.ts'
import { rowsOf, type SampleRow } from './sample-row.ts'

/** Requests the next rows. The first request contains the file, later ones continue with it. */
export interface IndexRequest {
  readonly file?: File
}

/** The next rows of the file. */
export type IndexAnswer =
  /** The file must be opened as a whole. */
  | { readonly kind: 'whole' }
  | {
      readonly kind: 'rows'
      readonly rows: readonly SampleRow[]
      /** Bytes of the file that have been indexed. */
      readonly bytes: number
      /** Why these rows are the last ones; undefined if more may follow. */
      readonly end: IndexEnd | undefined
    }

/** Milliseconds of an answer: the page draws the rows of each, and a request cannot be stopped in between. */
const ANSWER_MS = 150

/** Returns the function that answers with the next rows. `now` returns the time in milliseconds. */
export function createIndexHost(now: () => number): Answer<IndexRequest, IndexAnswer> {
  let records: ReturnType<typeof indexRecords> | undefined
  let size = 0
  let bytes = 0
  return async ({ file }) => {
    if (file) {
      const source = { file: file.name, now: new Date(file.lastModified).toISOString(), newId: () => '' }
      const layout = await recordLayout(bytesOf(file), source)
      if (layout === 'whole') return { kind: 'whole' }
      records = indexRecords(bytesOf(file), source, layout)
      size = file.size
    }
    if (!records) throw new Error('the first request has a file')
    const rows: SampleRow[] = []
    const until = now() + ANSWER_MS
    do {
      const { done, value } = await records.next()
      if (done) return { kind: 'rows', rows, bytes: value === 'end' ? size : bytes, end: value }
      rows.push(...rowsOf(value))
      bytes = value.record.end
    } while (now() < until)
    return { kind: 'rows', rows, bytes, end: undefined }
  }
}

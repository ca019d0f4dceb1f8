/**
 * Opens a file with any content: it must support all operations on trajectories, or be refused with a name and
 * position.
 */
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { ByteSource, UnpackTools } from './containers/container.ts'
import { openFile } from './reading/open.ts'
import { type OpenedRecord, openEach, openEachIn } from './reading/open-each.ts'
import { indexRecords, recordLayout } from './reading/record-index.ts'
import { writableFormats } from './registry.ts'

/** The result for a file. */
export type Verdict =
  | { readonly kind: 'opened'; readonly trajectories: number }
  | { readonly kind: 'refused'; readonly message: string }

const source = { file: 'file.json', now: '2026-01-01T00:00:00.000Z', newId: () => 'new' }

/** Throws for an error of the reader, not of the file. `tools` are given for a container. */
export async function verdictOn(bytes: Uint8Array, tools?: UnpackTools): Promise<Verdict> {
  const file = { size: bytes.length, read: async (start: number, end: number) => bytes.subarray(start, end) }
  await openOneByOne(tools ? openEachIn(file, source, { tools }) : openEach(chunksOf(bytes), source))
  if (tools) await indexAll(file)
  const trajectories: Trajectory[] = []
  for await (const opened of openFile(file, source, tools && { tools })) {
    if (opened.ok) {
      trajectories.push(opened.trajectory)
      continue
    }
    const { message, hint } = opened.error
    if (!hasPlace(message)) throw new Error(`an error without a place: ${message}`)
    if (hint === '') throw new Error(`an error without advice: ${message}`)
    return { kind: 'refused', message }
  }
  for (const trajectory of trajectories) {
    const written = encode(trajectory)
    const again = decode(written)
    if (!again.ok) throw new Error(`what was opened does not open again: ${JSON.stringify(again.error)}`)
    if (encode(again.trajectory) !== written) throw new Error('what was opened is written otherwise the second time')
    for (const format of writableFormats) JSON.stringify(format.write(trajectory).value)
  }
  return { kind: 'opened', trajectories: trajectories.length }
}

/** Indexes the file as the list of a large file does, if it can be listed. */
async function indexAll(file: ByteSource): Promise<void> {
  const layout = await recordLayout(file, source)
  if (layout === 'whole') return
  const records = indexRecords(file, source, layout)
  while (!(await records.next()).done);
}

async function openOneByOne(records: AsyncIterable<OpenedRecord>): Promise<void> {
  for await (const record of records)
    if (!record.ok && (record.error.message === '' || record.error.hint === ''))
      throw new Error('a record fails without a word')
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 10_000) yield bytes.subarray(at, at + 10_000)
}

/** A line, a column, a path, or words about the whole file. */
const hasPlace = (message: string): boolean =>
  [
    /^line \d+: /,
    /\((line \d+, )?(column|byte) \d+( of the element)?\)$/,
    /^([^\s:]|\["(?:[^"\\]|\\.)*"\])+(?<=[\w\])"]): expected /,
    /^row \d+: /,
    /^expected (whole|a whole|a file that this page|a Zstandard window|an Arrow table|a Parquet file|an Arrow file)\b/,
    /^expected (a zip archive|a footer|a batch|batches|lists, texts, numbers) /,
    /^expected at most \d+ (containers|entries|values|times|bytes|GiB|MiB)/,
    /^expected (a|at most \d+) (trajector|record)/,
    /^(\[\d+\]: )?expected JSON, found (an? |text in |bytes that are not UTF-8)/,
  ].some((pattern) => pattern.test(message) || pattern.test(message.replace(ENTRY, '')))

/** The name of a file or table in an archive. */
const ENTRY = /^[^\s:]+: /

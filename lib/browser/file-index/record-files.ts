/** Files with some records of a larger file. They refer to its bytes, which are read only when such a file is read. */
import type { RowPlace } from './sample-row.ts'

/** Returns a file with the record of a row. */
export const recordFile = (file: File, { start, end }: RowPlace): File =>
  new File([file.slice(start, end)], file.name, { lastModified: file.lastModified })

/**
 * Returns a file with the records of the rows, each once, in the order of the rows: JSON lines if the file has lines, otherwise a
 * list.
 */
export function recordsFile(file: File, rows: readonly RowPlace[]): File {
  const records = [...new Map(rows.map((row) => [row.start, row])).values()]
  const areLines = records.some(({ line }) => line !== undefined)
  const areItems = !areLines && records.some(({ item }) => item !== undefined)
  const parts = records.flatMap(({ start, end, item }, index): readonly BlobPart[] => {
    const record = file.slice(start, end)
    if (areLines) return item === undefined ? [record, '\n'] : ['[', record, ']\n']
    return areItems && index > 0 ? [',', record] : [record]
  })
  return new File(areItems ? ['[', ...parts, ']'] : parts, file.name, { lastModified: file.lastModified })
}

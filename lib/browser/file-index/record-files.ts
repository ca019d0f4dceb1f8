/** Files with some records of a larger file. Those of JSON refer to its bytes, which are read only when such a file is read. */
import type { BytesPlace, RecordPlace, RowPlace } from '#lib/formats/reading/record-index.ts'

/** Returns the records that are rows of a table, which have no bytes of their own in the file. */
export const tableRows = (places: readonly RecordPlace[]): readonly RowPlace[] =>
  places.flatMap((place) => ('row' in place ? [{ row: place.row, table: place.table }] : []))

const inJson = (places: readonly RecordPlace[]): readonly BytesPlace[] =>
  places.flatMap((place) => ('row' in place ? [] : [place]))

/**
 * Returns a file with the records of JSON at the places, each once, in the order of the places: JSON lines if the file has lines, otherwise a
 * list.
 */
export function recordsFile(file: File, places: readonly RecordPlace[]): File {
  const records = [...new Map(inJson(places).map((place) => [place.start, place])).values()]
  const areLines = records.some(({ line }) => line !== undefined)
  const areItems = !areLines && records.some(({ item }) => item !== undefined)
  const parts = records.flatMap(({ start, end, item }, index): readonly BlobPart[] => {
    const record = file.slice(start, end)
    if (areLines) return item === undefined ? [record, '\n'] : ['[', record, ']\n']
    return areItems && index > 0 ? [',', record] : [record]
  })
  return new File(areItems ? ['[', ...parts, ']'] : parts, file.name, { lastModified: file.lastModified })
}

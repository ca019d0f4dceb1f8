/** Writes CSV tables (RFC 4180) whose texts no spreadsheet reads as a formula. */

/** A cell; null and undefined are empty. */
export type CsvCell = string | number | null | undefined

/** Returns rows as CSV, each with its line end. */
export const csv = (rows: readonly (readonly CsvCell[])[]): string =>
  rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('')

function cellText(cell: CsvCell): string {
  if (typeof cell !== 'string') return cell === null || cell === undefined ? '' : String(cell)
  // Spreadsheets read such a text as a formula. Ids and titles come from files, so they may contain anything.
  const text = /^[=+\-@\t\r\0]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

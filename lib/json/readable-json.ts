/**
 * Writes JSON for people: numbers and short texts are on one line, so a diff of two files shows tokens rather than
 * brackets. The value must be plain data.
 */
export const readableJson = (value: object): string => `${readable(value, '')}\n`

const LINE_WIDTH = 120

/** Writes a value from the inside out: its parts decide whether it fits on a line, so nothing is written twice. */
function readable(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null))
    return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const inner = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map((item): readonly [string, string] => ['', readable(item, inner)])
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]): readonly [string, string] => [JSON.stringify(key), readable(item, inner)])
  const flat = parts.every(([, text]) => !text.includes('\n'))
    ? `${open}${parts.map(([key, text]) => (key === '' ? text : `${key}:${text}`)).join(',')}${close}`
    : undefined
  if (flat !== undefined && flat.length + indent.length <= LINE_WIDTH) return flat
  const rows = parts.map(([key, text]) => `${inner}${key === '' ? text : `${key}: ${text}`}`)
  return `${open}\n${rows.join(',\n')}\n${indent}${close}`
}

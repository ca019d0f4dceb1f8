/**
 * JSON for people: numbers and short texts stand in one line, so that a diff of two files shows tokens rather than
 * brackets. The value is plain data.
 */
export const readableJson = (value: object): string => `${readable(value, '')}\n`

const LINE_WIDTH = 120

/** From the inside out: a value that fits in a line is known to fit from its parts, and nothing is written twice. */
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

/** Numbers and short texts stand in one line, so that a diff of two files shows tokens rather than brackets. */
export const readableJson = (value: object): string => `${readable(value, '')}\n`

const LINE_WIDTH = 120

function readable(value: unknown, indent: string): string {
  const flat = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || flat.length + indent.length <= LINE_WIDTH) return flat
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object' || item === null)) return flat
    return `[\n${value.map((item) => `${indent}  ${readable(item, `${indent}  `)}`).join(',\n')}\n${indent}]`
  }
  const rows = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${indent}  ${JSON.stringify(key)}: ${readable(item, `${indent}  `)}`)
  return `{\n${rows.join(',\n')}\n${indent}}`
}

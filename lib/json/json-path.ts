import { stringEnd } from './json-scan.ts'

/** Keys of objects and indices of arrays that lead to a value, the outermost first. */
export type JsonPath = readonly (string | number)[]

/** Writes a path as code: `segments[3].ids[512]`. */
export const jsonPathText = (path: JsonPath): string =>
  path
    .map((part, depth) => {
      if (typeof part === 'number') return `[${part}]`
      if (!/^[A-Za-z_$][\w$]*$/.test(part)) return `[${JSON.stringify(part)}]`
      return depth === 0 ? part : `.${part}`
    })
    .join('')

/**
 * Returns the keys and indices that lead to a position in a JSON text: `["filter", "names", 2]`. The text may be
 * broken: only the part before the position is read. A position in a key belongs to the object around it.
 */
export function jsonPathAt(text: string, offset: number): JsonPath {
  const path: (string | number | undefined)[] = []
  const limit = Math.min(offset, text.length)
  for (let at = 0; at < limit; ) {
    const sign = text.charAt(at)
    const end = sign === '"' ? stringEnd(text, at) : at + 1
    if (end > limit && sign === '"') break
    if (sign === '{') path.push(undefined)
    else if (sign === '[') path.push(0)
    else if (sign === '}' || sign === ']') path.pop()
    else if (sign === ',' && path.length > 0) path.push(next(path.pop()))
    else if (sign === '"' && path.length > 0 && path.at(-1) === undefined) {
      path.pop()
      path.push(text.slice(at + 1, end - 1))
    }
    at = end
  }
  return path.filter((step) => step !== undefined)
}

/** Writes a path to follow a name: `.filter.names[2]`. */
export const pathText = (path: JsonPath): string =>
  path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')

const next = (step: string | number | undefined): number | undefined =>
  typeof step === 'number' ? step + 1 : undefined

/** Finds the errors and lines of JSON that is being typed. */
import { scanWhole, skipSpace } from '#lib/json/json-scan.ts'

/** Result of reading JSON that may be wrong. */
export type WrittenJson =
  | { readonly ok: true; readonly value: unknown }
  /** `error` begins with the line, for example `line 3: "}" where ":" is expected`. */
  | { readonly ok: false; readonly error: string }

/** Parses JSON; the error names the line, from 1. */
export function parseWrittenJson(text: string): WrittenJson {
  const scan = scanWhole(text, skipSpace(text, 0, text.length), text.trimEnd().length)
  if (!scan.ok) return { ok: false, error: `line ${lineAt(text, scan.at)}: ${scan.why}` }
  return { ok: true, value: JSON.parse(text) }
}

/** Returns the line of the member or item at a path, from 1. The text must be valid JSON. */
export function lineOfPath(text: string, path: readonly (string | number)[]): number {
  const open: { readonly isArray: boolean; key: string | number }[] = []
  let isName = false
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const holder = open.at(-1)
    if (token === ':') continue
    if (token === '}' || token === ']') {
      open.pop()
      isName = false
      continue
    }
    if (token === ',' && holder) {
      if (typeof holder.key === 'number') holder.key++
      isName = !holder.isArray
      continue
    }
    if (isName && holder) holder.key = JSON.parse(token) as string
    const isHere = (isName || holder?.isArray) && open.length === path.length
    if (isHere && open.every(({ key }, depth) => key === path[depth])) return lineAt(text, index)
    if (token === '{' || token === '[') open.push({ isArray: token === '[', key: token === '[' ? 0 : '' })
    isName = token === '{'
  }
  return 1
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length

/**
 * Reads the calls of a reply as its text grows, by the rules of SGLang 0.5.23's `--tool-call-parser qwen`: first the name, then the
 * arguments as they grow. It loses what SGLang loses: unknown tools, invalid JSON, white space.
 */
import { writeJson } from '#lib/templates/jinja/python/json.ts'
import { truth } from '#lib/templates/jinja/python/operators.ts'
import { PyDict, type Value } from '#lib/templates/jinja/python/values.ts'
import { readPartialJson } from './partial-json.ts'
import { beginningAtEnd } from './reasoning.ts'

/** The new part of a call. */
export interface CallDelta {
  /** Index of the call, from 0. */
  readonly index: number
  /** Only in the first delta of a call, which has no arguments. */
  readonly name: string | undefined
  /** The next piece of the arguments' JSON. */
  readonly arguments: string
}

/** The calls of one growing text. */
export interface CallStream {
  read(text: string): { readonly content: string; readonly calls: readonly CallDelta[] }
  /** Returns the remaining arguments when no text follows; undefined if there are none. */
  end(): CallDelta | undefined
}

const OPEN = '<tool_call>\n'
const CLOSE = '\n</tool_call>'
const SEPARATOR = '\n'

/** Returns the reader of one text; `tools` has the names of the known tools. */
export function callStream(tools: readonly string[]): CallStream {
  let buffer = ''
  let heldContent = ''
  let index = -1
  let isNamed = false
  /** For each call, the last value that was read, and how much of its arguments was returned. */
  const read: (Value | undefined)[] = []
  const sentIds: string[] = []

  const startOf = (text: string): number => {
    if (index > 0 && text.startsWith(SEPARATOR)) return SEPARATOR.length
    const at = text.indexOf(OPEN)
    return at < 0 ? 0 : at + OPEN.length
  }

  const next = (): CallDelta | undefined => {
    const flags = isNamed ? 'also cut' : 'whole'
    let start = startOf(buffer)
    let json = start < buffer.length ? readPartialJson(buffer.slice(start), flags) : undefined
    // Markup may follow the separator: the next call then begins after its delimiter.
    if (!json && buffer.includes(OPEN)) {
      start = buffer.indexOf(OPEN) + OPEN.length
      json = start < buffer.length ? readPartialJson(buffer.slice(start), flags) : undefined
    }
    const call = json?.value
    if (!json || !(call instanceof PyDict)) return undefined
    const name = call.get('name')
    if (name !== undefined && !(typeof name === 'string' && tools.includes(name))) {
      buffer = ''
      index = -1
      isNamed = false
      sentIds.pop()
      return undefined
    }
    if (call.get('parameters') !== undefined && call.get('arguments') !== undefined) return undefined
    if (!isNamed) {
      if (typeof name !== 'string') return undefined
      index = Math.max(0, index)
      while (sentIds.length <= index) sentIds.push('')
      isNamed = true
      return { index, name, arguments: '' }
    }
    const args = call.get('parameters') ?? call.get('arguments')
    if (args === undefined || args === null) return undefined
    const written = writeJson(args)
    const before = read[index]
    const sent = sentIds[index]?.length ?? 0
    let delta: string | undefined
    if (json.isWhole) {
      delta = written.slice(sent)
      buffer = buffer.slice(start + json.end)
    } else if (before !== undefined && truth(before)) {
      const earlier = writeJson(before)
      if (earlier !== written) delta = written.slice(sent, Math.max(sent, commonLength(earlier, written)))
    }
    read[index] = args
    const current = index
    if (json.isWhole) {
      isNamed = false
      index++
    }
    if (delta === undefined) return undefined
    sentIds[current] += delta
    return { index: current, name: undefined, arguments: delta }
  }

  const contentOf = (text: string): string => {
    heldContent += text
    const closing = CLOSE.slice(1)
    if (heldContent.includes(closing)) {
      const content = heldContent.replaceAll(closing, '')
      heldContent = ''
      return content
    }
    const safe = heldContent.length - beginningAtEnd(heldContent, closing)
    const content = heldContent.slice(0, safe)
    heldContent = heldContent.slice(safe)
    return content
  }

  return {
    read(text) {
      buffer += text
      if (buffer.includes(OPEN) || (index > 0 && buffer.startsWith(SEPARATOR))) {
        const call = next()
        return { content: '', calls: call ? [call] : [] }
      }
      if (beginningAtEnd(buffer, OPEN) > 0) return { content: '', calls: [] }
      const content = buffer.replaceAll(CLOSE, '')
      buffer = ''
      return { content: content === '' ? '' : contentOf(content), calls: [] }
    },
    end() {
      const last = read.length - 1
      const args = read[last]
      const done = sentIds[last]
      if (args === undefined || done === undefined) return undefined
      const all = typeof args === 'string' ? args : writeJson(args)
      const rest = all.startsWith(done) ? all.slice(done.length) : ''
      return rest === '' ? undefined : { index: last, name: undefined, arguments: rest }
    },
  }
}

function commonLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  // Half of a surrogate pair is no common character.
  return /[\ud800-\udbff]/.test(a[length - 1] ?? '') ? length - 1 : length
}

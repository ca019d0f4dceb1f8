/** Reads completions from a file: trajectories of Rollscope, JSON lines of any program, or a text with one completion in each line. */

import { isObject } from '#lib/json/json-object.ts'
import { textForParsers } from '#lib/parsers/parsed-text.ts'
import { parsers } from '#lib/parsers/registry.ts'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { withoutByteOrderMark } from '#lib/util/text/byte-order-mark.ts'
import type { ModelCompletion } from './rerender.ts'

/** A completion with its place in the file. */
export interface NamedCompletion extends ModelCompletion {
  /** Where it is from, such as `line 3` or `response 2`. */
  readonly from: string
}

/** The completions of a file. */
export interface CompletionsFile {
  readonly completions: readonly NamedCompletion[]
  /** Number of lines and entries in which no completion was found. */
  readonly skipped: number
}

/** Returns the completions of a file in any of these formats. */
export function completionsIn(file: string): CompletionsFile {
  const text = withoutByteOrderMark(file)
  const whole = jsonOf(text)
  const entries = whole === undefined ? undefined : Array.isArray(whole) ? whole : [whole]
  if (entries) return joinCompletions(entries.map((entry, index) => inEntry(entry, `entry ${index + 1}`)))
  const lines = text.split(/\r?\n/).map((line, index) => ({ line, from: `line ${index + 1}` }))
  const filled = lines.filter(({ line }) => line.trim() !== '')
  const isJsonLines = filled.length > 0 && jsonOf(filled[0]?.line ?? '') !== undefined
  return joinCompletions(
    filled.map(({ line, from }) => {
      if (!isJsonLines) return [{ text: line, from }]
      const value = jsonOf(line)
      return value === undefined ? [] : inEntry(value, from)
    }),
  )
}

/** Returns the responses of a trajectory, with the ids that were sampled. */
export function completionsOf(trajectory: TrajectoryView, from: string): readonly NamedCompletion[] {
  return segmentsOf(trajectory)
    .filter((segment) => segment.kind === 'response')
    .map((segment, index) => {
      const { text, starts, ends } = textForParsers(segment, trajectory, parsers)
      const ids = Array.from(segment.ids).slice(0, starts.length - 1)
      const encoding = { ids, starts, ...(ends && { ends }) }
      return { text, encoding, from: `${from}response ${index + 1}` }
    })
}

function inEntry(value: unknown, from: string): readonly NamedCompletion[] {
  const decoded = isObject(value) && 'format' in value ? decodeValue(value) : undefined
  if (decoded?.ok) return completionsOf(decoded.trajectory, `${from}, `)
  const text = completionText(value)
  return text === undefined ? [] : [{ text, from }]
}

/** Names that programs give to a completion; the first one that is present counts. */
const FIELDS = ['completion', 'response', 'output', 'generated_text', 'prediction', 'text', 'content', 'answer']

/** Returns the completion of a value: the last reply of a conversation, the first of several choices. */
function completionText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) {
    const last = value.findLast((entry) => isObject(entry) && entry.role === 'assistant')
    return last === undefined ? undefined : completionText(last)
  }
  if (!isObject(value)) return undefined
  const field = FIELDS.find((name) => typeof value[name] === 'string')
  if (field !== undefined) return value[field] as string
  if (Array.isArray(value.messages)) return completionText(value.messages)
  if (Array.isArray(value.choices)) return completionText(value.choices[0])
  return isObject(value.message) ? completionText(value.message) : undefined
}

const joinCompletions = (found: readonly (readonly NamedCompletion[])[]): CompletionsFile => ({
  completions: found.flat(),
  skipped: found.filter((one) => one.length === 0).length,
})

/** Returns undefined for text that is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

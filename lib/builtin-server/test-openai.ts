/** Helpers that send recorded requests of SGLang 0.5.23 with the shipped model to the built-in server, and make the answers comparable. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { LocalModel } from './local-model.ts'

interface Recording {
  readonly request: {
    readonly path: string
    readonly headers: HeadersInit
    readonly body: Readonly<Record<string, unknown>> | string | null
  }
  readonly status: number
  readonly response?: unknown
  readonly stream_lines?: readonly string[]
}

const FOLDER = path.resolve('lib/sglang/recordings')

/** Returns the names of recordings that begin with a text. */
export const recordedNames = (beginning: string): readonly string[] =>
  readdirSync(FOLDER)
    .map((file) => path.basename(file, '.json'))
    .filter((name) => name.startsWith(beginning))

/** Returns a recording by its name. */
export const recorded = (name: string): Recording => JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), 'utf8'))

/** Returns whether SGLang refused the recorded request. */
export const isRefused = (name: string): boolean => recorded(name).status !== 200

/** Returns whether the recorded reply is forced to call; tool-choice.test.ts compares those. */
export const isForcedCall = (name: string): boolean => {
  const { body } = recorded(name).request
  const choice = typeof body === 'object' ? (body?.tool_choice ?? 'auto') : 'auto'
  return !isRefused(name) && choice !== 'auto' && choice !== 'none'
}

/** Returns whether the recorded request wants a stream. */
export function isStream(name: string): boolean {
  const { body } = recorded(name).request
  return typeof body === 'object' && body?.stream === true
}

/** Returns the text of a recorded stream. */
export const recordedText = (name: string): string => recorded(name).stream_lines?.join('') ?? ''

interface Answer {
  readonly status: number
  readonly text: string
  json(): unknown
}

/** Sends a recorded request to a model and returns its answer. */
export async function answerTo(model: LocalModel, name: string): Promise<Answer> {
  const { path: place, headers, body } = recorded(name).request
  const sent = typeof body === 'string' ? body : body === null ? '' : JSON.stringify(body)
  const response = await model.handle(new Request(`http://localhost${place}`, { method: 'POST', headers, body: sent }))
  const text = await response.text()
  return { status: response.status, text, json: () => JSON.parse(text) as unknown }
}

/** Replaces values that depend on time and chance with their form. */
export function comparable(response: unknown): unknown {
  return JSON.parse(JSON.stringify(response), (key, value) => {
    if (key === 'id' && typeof value === 'string') return value.replaceAll(/[0-9a-f]/g, 'x')
    if (key === 'cached_tokens_details') return 'null or {device, host}'
    return CLOCK.has(key) ? typeof value : value
  })
}

const CLOCK = new Set(['created', 'e2e_latency', 'response_sent_to_client_ts', 'cached_tokens'])

const LOGPROBS = new Set(['logprob', 'token_logprobs', 'top_logprobs', 'output_token_logprobs'])

/** Replaces logprobs with matchers of a precision of 1e-4. */
export function closeLogprobs(value: unknown, key = ''): unknown {
  if (typeof value === 'number') return LOGPROBS.has(key) && !Number.isInteger(value) ? expect.closeTo(value, 4) : value
  if (Array.isArray(value)) return value.map((entry) => closeLogprobs(entry, key))
  if (typeof value !== 'object' || value === null || 'asymmetricMatch' in value) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, closeLogprobs(entry, LOGPROBS.has(name) ? name : key)]),
  )
}

/**
 * Returns a refusal without the value and the source line that SGLang adds; SGLang also reads 1 as 1.0 for a field that may be a fraction.
 */
export const words = (response: unknown): unknown => ({
  ...(response as object),
  message: (response as { message: string }).message
    .replace(/^(\d validation errors?:\n {2}\{.*?'msg': '[^']*').*/s, '$1')
    .replace(/(got -?\d+)\.0\.$/, '$1.'),
})

/** Recorded answers of SGLang 0.5.23 with the shipped model, asked of the built-in server and made comparable. For tests. */
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

export const recordedNames = (beginning: string): readonly string[] =>
  readdirSync(FOLDER)
    .map((file) => path.basename(file, '.json'))
    .filter((name) => name.startsWith(beginning))

export const recorded = (name: string): Recording => JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), 'utf8'))

export const isRefused = (name: string): boolean => recorded(name).status !== 200

/** Made to call: compared in tool-choice.test.ts. */
export const isForcedCall = (name: string): boolean => {
  const { body } = recorded(name).request
  const choice = typeof body === 'object' ? (body?.tool_choice ?? 'auto') : 'auto'
  return !isRefused(name) && choice !== 'auto' && choice !== 'none'
}

export function isStream(name: string): boolean {
  const { body } = recorded(name).request
  return typeof body === 'object' && body?.stream === true
}

export const recordedText = (name: string): string => recorded(name).stream_lines?.join('') ?? ''

interface Answer {
  readonly status: number
  readonly text: string
  json(): unknown
}

export async function answerTo(model: LocalModel, name: string): Promise<Answer> {
  const { path: place, headers, body } = recorded(name).request
  const sent = typeof body === 'string' ? body : body === null ? '' : JSON.stringify(body)
  const response = await model.handle(new Request(`http://localhost${place}`, { method: 'POST', headers, body: sent }))
  const text = await response.text()
  return { status: response.status, text, json: () => JSON.parse(text) as unknown }
}

/** What the clock and chance have a hand in becomes its form. */
export function comparable(response: unknown): unknown {
  return JSON.parse(JSON.stringify(response), (key, value) => {
    if (key === 'id' && typeof value === 'string') return value.replaceAll(/[0-9a-f]/g, 'x')
    if (key === 'cached_tokens_details') return 'null or {device, host}'
    return CLOCK.has(key) ? typeof value : value
  })
}

const CLOCK = new Set(['created', 'e2e_latency', 'response_sent_to_client_ts', 'cached_tokens'])

const LOGPROBS = new Set(['logprob', 'token_logprobs', 'top_logprobs', 'output_token_logprobs'])

/** The same with logprobs to 1e-4. */
export function closeLogprobs(value: unknown, key = ''): unknown {
  if (typeof value === 'number') return LOGPROBS.has(key) && !Number.isInteger(value) ? expect.closeTo(value, 4) : value
  if (Array.isArray(value)) return value.map((entry) => closeLogprobs(entry, key))
  if (typeof value !== 'object' || value === null || 'asymmetricMatch' in value) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, closeLogprobs(entry, LOGPROBS.has(name) ? name : key)]),
  )
}

/** SGLang adds the value found, and the place in its own source. It reads 1 as 1.0 where it may be a fraction. */
export const words = (response: unknown): unknown => ({
  ...(response as object),
  message: (response as { message: string }).message
    .replace(/^(\d validation errors?:\n {2}\{.*?'msg': '[^']*').*/s, '$1')
    .replace(/(got -?\d+)\.0\.$/, '$1.'),
})

/**
 * Sends the recorded requests of a real SGLang 0.5.23 to the built-in server and compares status, shape and message. Ids are mapped into
 * the model's vocabulary; the generated text is not compared.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createTestModel, eventsIn, testClient } from './test-model.ts'

interface Recording {
  readonly request: {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: unknown
    readonly batchedWith?: readonly object[]
  }
  readonly status: number
  readonly response?: unknown
  readonly stream_lines?: readonly string[]
}

const FOLDER = path.resolve('lib/sglang/recordings')
const recordings = new Map(
  readdirSync(FOLDER).map((file): [string, Recording] => [
    path.basename(file, '.json'),
    JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')),
  ]),
)

interface Difference {
  readonly names: RegExp
  /** The reason, in the same words as docs/built-in-server.md. */
  readonly why: string
  /** `absent`: a 404. `refused`: a 400 with these words, in a stream 200 and an event. `unasked`: nothing is compared. */
  readonly here:
    | { readonly kind: 'absent' }
    | { readonly kind: 'refused'; readonly says: RegExp }
    | { readonly kind: 'answered'; readonly status: number }
    | { readonly kind: 'unasked' }
}

const refused = (names: RegExp, says: RegExp, why: string): Difference => ({
  names,
  why,
  here: { kind: 'refused', says },
})

/** Intended differences from the recordings. */
const DIFFERENCES: readonly Difference[] = [
  refused(
    /^core-generate-regex-bad$/,
    /^Failed to compile regex grammar: .*unterminated character class/,
    'the message for an invalid grammar',
  ),
  refused(/^core-generate-ebnf$/, /^ebnf is set.* supports only the grammars regex and json_schema/, '`ebnf`'),
  refused(/^core-generate-flat-top$/, /^return_flat_raw_top_logprobs is set/, 'flat lists of alternatives'),
  {
    names: /^info-(continue|pause|open-session|update-weight-version|get_openapi)/,
    why: 'pausing, sessions, weight versions, `/openapi.json`',
    here: { kind: 'absent' },
  },
  {
    names:
      /^auth-(admin-key-(abort|flush|on-generate)|good-key-basic-scheme|no-key|no-key-get_(model_info|ping|server_info|v1_loads|v1_models)|no-key-stream|wrong-key|x-api-key)$/,
    why: 'API keys: none; everyone whom the application admits may send requests',
    here: { kind: 'answered', status: 200 },
  },
  {
    names: /^auth-no-key-get_metrics$/,
    why: '`/metrics`',
    here: { kind: 'absent' },
  },
  {
    names: /^(info-cors-preflight|auth-options-no-key)$/,
    why: 'requests of web pages of other origins, which the application refuses',
    here: { kind: 'unasked' },
  },
]

/** Recordings that are not compared in this file, with the reason. */
const ELSEWHERE: readonly (readonly [name: RegExp, where: string])[] = [
  [/^info-chat-completions-tools$/, 'another model, which thinks to the end: as chat-regex-thinking, to the id'],
  [/^chat-/, 'made with the model that ships: compared to the id in chat-completions.test.ts and chat-stream.test.ts'],
  [/^completion-/, 'made with the model that ships: compared to the id in completions.test.ts'],
  [/^(parse|separate)-/, 'compared in parsing.test.ts'],
  [/^router-/, 'the router is another program'],
  [/^(inc|stream)-loads-/, 'the same request as info-get_v1_loads'],
  [/^(mixture|experts|adapter)-/, 'another model; the built-in server refuses these fields: generate-jobs.test.ts'],
  [/^busy-/, 'prefilled in one batch with requests that generate: below'],
  [
    /^(inc|stream)-(abort-mid|abort-nonstream-victim|abort-all-victim|disconnect|rid-reuse-second)$/,
    'needs two clients: below',
  ],
]

/** Answers of which the built-in server has only some fields: those have the recorded types. */
const PARTIAL =
  /^(info-get_(get_)?|auth-good-get_)(model_info|server_info)$|^info-get_v1_loads$|^auth-(good-key|lowercase-bearer)$/

const differenceOf = (name: string): Difference['here'] | undefined =>
  DIFFERENCES.find(({ names }) => names.test(name))?.here
const isAsked = (name: string): boolean =>
  !ELSEWHERE.some(([pattern]) => pattern.test(name)) && differenceOf(name)?.kind !== 'unasked'

const model = createTestModel()
afterAll(() => model.close())
const { post, stream, generate } = testClient(model)

const names = [...recordings.keys()].filter(isAsked)

test('The rules of the recordings apply to a recording each, and docs/built-in-server.md lists every difference', () => {
  expect(names.length).toBeGreaterThan(170)
  const patterns = [...DIFFERENCES.map(({ names: pattern }) => pattern), ...ELSEWHERE.map(([pattern]) => pattern)]
  for (const pattern of [...patterns, PARTIAL])
    expect([pattern, [...recordings.keys()].some((name) => pattern.test(name))]).toEqual([pattern, true])
  const page = readFileSync('docs/built-in-server.md', 'utf8').replaceAll(/\s+/g, ' ')
  for (const { why } of DIFFERENCES) expect(page).toContain(why)
})

describe('A recorded request has the recorded answer:', () => {
  test.each(names)('%s', async (name) => {
    const recording = recordings.get(name) as Recording
    const response = await model.handle(requestOf(recording))
    const text = await response.text()
    const here = differenceOf(name)
    if (here?.kind === 'absent') {
      expect([response.status, JSON.parse(text)]).toEqual([404, { detail: 'Not Found' }])
      return
    }
    if (here?.kind === 'answered') {
      expect(response.status).toBe(here.status)
      return
    }
    if (here?.kind === 'refused') {
      const [said] = recording.stream_lines ? eventsIn(text) : [JSON.parse(text)]
      expect(response.status).toBe(recording.stream_lines ? 200 : 400)
      expect(said).toEqual({ error: expect.objectContaining({ message: expect.stringMatching(here.says) }) })
      return
    }
    expect(response.status).toBe(recording.status)
    if (recording.stream_lines) compareEvents(eventsIn(text), recordedEvents(recording))
    else if (PARTIAL.test(name)) comparePart(JSON.parse(text), recording.response, '')
    else if (recording.status >= 400) expect(errorOf(JSON.parse(text))).toEqual(errorOf(mapped(recording.response)))
    else if (/json/.test(response.headers.get('content-type') ?? ''))
      expect(shapeOf(JSON.parse(text))).toEqual(shapeOf(recording.response))
    else expect(text.split('\n')[0]).toBe(String(recording.response).split('\n')[0])
  })
})

describe('A recording with two clients', () => {
  const bodyOf = (name: string) => mapped((recordings.get(name) as Recording).request.body) as { rid: string }

  test('inc-abort-mid has the same last event of an aborted stream', async () => {
    const response = await post('/generate', bodyOf('inc-abort-mid'))
    // The other client has its own timing, so the abort comes while tokens arrive.
    await stream({ text: 'a', sampling_params: { max_new_tokens: 8, ignore_eos: true } })
    await post('/abort_request', { rid: 'to-abort-1' })
    const recorded = recordedEvents(recordings.get('inc-abort-mid') as Recording)
    expect(shapeOf(eventsIn(await response.text()).at(-1))).toEqual({
      ...(shapeOf(recorded.at(-1)) as object),
      // SGLang sends the token that it was computing; this server computes no more.
      output_ids: { list: [] },
      meta_info: {
        ...(shapeOf(recorded.at(-1)) as { meta_info: object }).meta_info,
        output_token_logprobs: { list: [] },
      },
    })
  })

  test.each([
    ['inc-abort-nonstream-victim', { rid: 'to-abort-2' }],
    ['inc-abort-all-victim', { abort_all: true }],
  ])('%s has status 200 for an aborted plain reply', async (name, abort) => {
    const replying = post('/generate', bodyOf(name))
    await stream({ text: 'a', sampling_params: { max_new_tokens: 8, ignore_eos: true } })
    await post('/abort_request', abort)
    const response = await replying
    expect(response.status).toBe(200)
    expect(shapeOf(await response.json())).toEqual(shapeOf((recordings.get(name) as Recording).response))
  })

  test('inc-rid-reuse-second has the refusal of a request id that is still in use', async () => {
    const first = generate(bodyOf('inc-rid-reuse-first'))
    await stream({ text: 'a', sampling_params: { max_new_tokens: 1 } })
    const second = recordings.get('inc-rid-reuse-second') as Recording
    const response = await post('/generate', mapped(second.request.body))
    expect([response.status, await response.json()]).toEqual([second.status, second.response])
    expect(shapeOf(await first)).toEqual(shapeOf((recordings.get('inc-rid-reuse-first') as Recording).response))
  })
})

describe('A recorded request that does not generate, beside requests that do,', () => {
  test.each([...recordings.keys()].filter((name) => name.startsWith('busy-')))(
    'has the answer of %s without the row of the next token',
    async (name) => {
      const { request, response, ...recorded } = recordings.get(name) as Recording
      const others = (request.batchedWith ?? []).map((other) => generate(mapped(other) as object))
      const reply = await model.handle(requestOf({ request, status: 200 }))
      const text = await reply.text()
      const [answer] = recorded.stream_lines ? eventsIn(text) : [JSON.parse(text)]
      const [expected] = recorded.stream_lines ? recordedEvents({ request, ...recorded }) : [response]
      const { output_token_logprobs: rows } = (expected as { meta_info: { output_token_logprobs: unknown[] } })
        .meta_info
      expect(rows).toHaveLength(1)
      const { meta_info: meta, ...rest } = shapeOf(expected) as { meta_info: object }
      expect(shapeOf(answer)).toEqual({ ...rest, meta_info: { ...meta, output_token_logprobs: { list: [] } } })
      await Promise.all(others)
    },
  )
})

function requestOf({ request, stream_lines }: Recording): Request {
  const { method, headers, body } = request
  const text = typeof body === 'string' ? body : JSON.stringify(stream_lines ? goingOn(mapped(body)) : mapped(body))
  return new Request(`http://localhost${request.path}`, { method, headers, ...(body !== null && { body: text }) })
}

/**
 * Returns the body of a request that continues: the recorded streams have several events, so this model must not end them with the first.
 */
function goingOn(body: unknown): unknown {
  const { sampling_params: params, ...rest } = body as { sampling_params: object }
  return { ...rest, sampling_params: { ...params, ignore_eos: true } }
}

/**
 * Ids by the recorded id: the recorded model has 2,048 ids with its special tokens last; this one has 1,024 with its special tokens first.
 */
const SPECIAL_IDS: Readonly<Record<number, number>> = { 2039: 0, 2040: 1, 2041: 2, 2042: 5, 2046: 3 }
const RECORDED_IDS = 2048
const IDS = 1024
const FIRST_PLAIN_ID = 9

const mappedId = (id: number): number =>
  id < RECORDED_IDS ? (SPECIAL_IDS[id] ?? FIRST_PLAIN_ID + (id % (IDS - FIRST_PLAIN_ID))) : id

const ID_FIELDS = new Set(['input_ids', 'stop_token_ids', 'token_ids_logprob', 'tokens', 'prompt'])

/** Returns a value with the ids of this model instead of the recorded ones, in fields and in messages. */
function mapped(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((entry) => mapped(entry, key))
  if (Number.isInteger(value) && ID_FIELDS.has(key)) return mappedId(value as number)
  if (typeof value === 'string' && key === 'message') return value.replace(`${RECORDED_IDS - 1}]`, `${IDS - 1}]`)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, entry]) =>
    key === 'logit_bias' ? [mappedId(Number(name)), entry] : [name, mapped(entry, name)],
  )
  return Object.fromEntries(entries)
}

function recordedEvents({ stream_lines: lines }: Recording): unknown[] {
  const events = (lines ?? []).filter((line) => line.startsWith('data: {'))
  return events.map((line) => JSON.parse(line.slice('data: '.length)))
}

/** Compares the shapes of first, middle and last events; their number depends on the model and on timing. */
function compareEvents(events: readonly unknown[], recorded: readonly unknown[]): void {
  const parts = (all: readonly unknown[]) => {
    const shapes = all.map((event) => shapeOf(event))
    return { first: shapes[0], last: shapes.at(-1), between: unique(shapes.slice(1, -1)) }
  }
  const withError = recorded.find((event) => typeof event === 'object' && event !== null && 'error' in event)
  if (withError) expect(events).toEqual(recorded)
  else expect(parts(events)).toEqual(parts(recorded))
}

type Shape = string | { readonly list: readonly Shape[] } | { readonly [key: string]: Shape }

/** Returns names and JSON types recursively; for a list, the different shapes of its entries. */
function shapeOf(value: unknown, key = ''): Shape {
  // This field is null while nothing was reused, which depends on earlier requests.
  if (key === 'cached_tokens_details') return 'null or {device, host}'
  if (key === 'finish_reason' && value !== null) return finishShape(value)
  if (value === null) return 'null'
  if (Array.isArray(value))
    return { list: unique(value.map((entry) => shapeOf(entry, key === ALTERNATIVES ? key : ''))) }
  if (typeof value !== 'object') return typeof value
  // In a completion, these names are the model's tokens.
  if (key === ALTERNATIVES && !('token' in value)) return 'alternatives'
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, shapeOf(entry, name)]))
}

const ALTERNATIVES = 'top_logprobs'

function unique(shapes: readonly Shape[]): Shape[] {
  const byText = new Map(shapes.map((shape) => [JSON.stringify(shape), shape]))
  return [...byText.keys()].sort().map((text) => byText.get(text) as Shape)
}

/** Returns the shape of an end. The model decides whether a stop text appears, so any recorded end is accepted except for aborts. */
function finishShape(value: unknown): Shape {
  const fields = Object.entries(value as object).map(
    ([name, entry]) => `${name}: ${entry === null ? null : typeof entry}`,
  )
  const { type } = value as { type: string }
  if (!FINISHES.includes(`${type} {${fields.join(', ')}}`)) return `unknown: ${JSON.stringify(value)}`
  return type === 'abort' ? 'aborted' : 'finished'
}

const FINISHES: readonly string[] = [
  'length {type: string, length: number}',
  'stop {type: string, matched: number}',
  'stop {type: string, matched: string}',
  'abort {type: string, message: string, status_code: null, err_type: null}',
]

/** Returns type, place and message of an error, without the source line and the Python value that SGLang adds. */
function errorOf(body: unknown): unknown {
  const { message } = body as { message?: string }
  if (typeof message !== 'string' || !message.startsWith('1 validation error')) return body
  return { ...(body as object), message: /'type': '.*?', 'loc': \(.*?\), 'msg': '.*?'/.exec(message)?.[0] }
}

/** Compares the types of two values; a recorded null says nothing about the type. */
function comparePart(ours: unknown, theirs: unknown, place: string): void {
  if (theirs === null) return
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    for (const [index, entry] of ours.entries()) comparePart(entry, theirs[index], `${place}[${index}]`)
  } else if (typeof ours === 'object' && ours !== null) {
    for (const [name, entry] of Object.entries(ours)) {
      expect(theirs, place).toHaveProperty(name)
      comparePart(entry, (theirs as Record<string, unknown>)[name], `${place}.${name}`)
    }
  } else expect([place, typeof ours]).toEqual([place, typeof theirs])
}

import net from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { EngineClient } from '#lib/engine/engine.ts'
import type { ClockAndRandom } from '#lib/engine/http/clock-and-random.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { Chunk } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import type { Sampling } from '#lib/sampling/values.ts'
import {
  type Recording,
  recording,
  recordingNames,
  replay,
  scripted,
  withLogprobs,
} from '#testing/sglang/recordings.ts'
import { createClient } from './client.ts'

const never = new AbortController().signal
function client(baseUrl: string, options: Partial<Parameters<typeof createClient>[0]> = {}): EngineClient {
  const made = createClient({ baseUrl, apiKey: undefined, retry: { repetitions: 0 }, ...options })
  onTestFinished(() => made.close())
  return made
}

async function replaying(recordings: Readonly<Record<string, Recording>>, cut?: number) {
  const server = await replay(recordings, cut)
  onTestFinished(() => server.close())
  return server
}

/** Starts a server with its own handler and a client of it. */
async function against(
  handler: Parameters<typeof scripted>[0],
  options: Partial<Parameters<typeof createClient>[0]> = {},
): Promise<EngineClient> {
  const server = await scripted(handler)
  onTestFinished(() => server.close())
  return client(server.baseUrl, options)
}

const VOCABULARY = 2048 + 64
const request = (overrides: Partial<GenerateRequest> = {}): GenerateRequest => ({
  inputIds: [1, 2, 3],
  sampling: { max_new_tokens: 8 },
  rid: 'r'.repeat(32),
  stream: false,
  topLogprobsNum: 0,
  vocabularySize: VOCABULARY,
  ...overrides,
})

const failure = async (action: Promise<unknown>): Promise<EngineError> => {
  const error = await action.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(EngineError)
  return error as EngineError
}

/** Returns the final content of a recorded reply, read directly from its JSON. */
function truth({ request, response, stream_lines }: Recording): {
  ids: number[]
  logprobs: number[] | undefined
  finish: string
  text: string
} {
  const events = stream_lines
    ? stream_lines.filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)))
    : [response]
  const last = events.at(-1)
  // On a busy server, a request without new tokens still gets the row of the next token.
  const isScoringOnly =
    (request.body as { sampling_params?: { max_new_tokens?: number } }).sampling_params?.max_new_tokens === 0
  const isDelta = events.length > 1 && last.output_ids.length < last.meta_info.completion_tokens
  const ids = isDelta ? events.flatMap((event) => event.output_ids) : last.output_ids
  const scores = isDelta
    ? events.flatMap((event) => event.meta_info.output_token_logprobs ?? [])
    : last.meta_info.output_token_logprobs
  return {
    ids,
    logprobs: isScoringOnly
      ? []
      : last.meta_info.output_token_logprobs
        ? scores.map(([logprob]: [number]) => logprob)
        : undefined,
    finish: last.meta_info.finish_reason.type,
    text: isDelta ? events.map((event) => event.text).join('') : last.text,
  }
}

const single = recordingNames.filter((name) => {
  if (!/^(core|stream|inc|busy)-/.test(name)) return false
  const { status, response, stream_lines, request: sent } = recording(name)
  const first = stream_lines?.find((line) => line.startsWith('data: {'))
  const reply = first ? JSON.parse(first.slice(6)) : response
  const body = sent.body as { input_ids?: unknown[]; sampling_params?: { n?: number } } | null
  return (
    sent.path === '/generate' &&
    status === 200 &&
    reply?.meta_info &&
    Array.isArray(body?.input_ids) &&
    !Array.isArray(body.input_ids[0]) &&
    reply.index === undefined &&
    stream_lines?.includes('data: [DONE]\n') !== false
  )
})

test('the recordings folder holds enough SGLang recordings to be meaningful', () => {
  expect(single.length).toBeGreaterThan(50)
})

test.each(single)('client reads ids, logprobs, finish reason and text of the recorded reply %s', async (name) => {
  const recorded = withLogprobs(recording(name))
  const {
    input_ids: inputIds,
    stream = false,
    sampling_params: sampling = {},
  } = recorded.request.body as { input_ids: number[]; stream?: boolean; sampling_params?: Sampling }
  const server = await replaying({ '/generate': recorded })
  const chunks = await Array.fromAsync(client(server.baseUrl).generate(request({ inputIds, stream, sampling }), never))
  const expected = truth(recorded)
  const end = chunks.at(-1)?.end
  expect(chunks.flatMap(({ tokens }) => tokens.ids)).toEqual(expected.ids)
  if (expected.logprobs) expect(chunks.flatMap(({ tokens }) => tokens.logprobs ?? [])).toEqual(expected.logprobs)
  expect(end?.finish.kind).toBe(expected.finish)
  expect(end?.text).toBe(expected.text)
  expect(chunks.slice(0, -1).every((chunk) => chunk.end === undefined)).toBe(true)
  expect(end?.usage.completionTokens).toBe(expected.ids.length)
  expect(chunks.flatMap(({ problems }) => problems)).toEqual([])
})

test.each([1, 7, 4096])('client reads a stream that is cut into writes of %d bytes like a whole one', async (cut) => {
  const recorded = recording('inc-multibyte')
  const body = recorded.request.body as { input_ids: number[] }
  const server = await replaying({ '/generate': recorded }, cut)
  const chunks = await Array.fromAsync(
    client(server.baseUrl).generate(request({ inputIds: body.input_ids, stream: true }), never),
  )
  expect(chunks.flatMap(({ tokens }) => tokens.ids)).toEqual(truth(recorded).ids)
  expect(chunks.at(-1)?.end?.text).toBe(truth(recorded).text)
})

test('client reads the cached tokens of a reply', async () => {
  const recorded = recording('core-generate-logprob-output-only')
  const { input_ids: inputIds } = recorded.request.body as { input_ids: number[] }
  const { meta_info: meta } = recorded.response as { meta_info: { cached_tokens: number } }
  const server = await replaying({ '/generate': recorded })
  const [chunk] = await Array.fromAsync(client(server.baseUrl).generate(request({ inputIds }), never))
  expect(meta.cached_tokens).toBeGreaterThan(0)
  expect(chunk?.end?.usage.cachedTokens).toBe(meta.cached_tokens)
})

test('client aligns prompt logprobs to the end of the prompt, with their alternatives', async () => {
  const recorded = recording('core-generate-top5')
  const body = recorded.request.body as { input_ids: number[] }
  const server = await replaying({ '/generate': recorded })
  const [chunk] = await Array.fromAsync(
    client(server.baseUrl).generate(
      request({ inputIds: body.input_ids, logprobStartLen: 0, topLogprobsNum: 5 }),
      never,
    ),
  )
  expect(chunk?.prompt?.logprobs).toHaveLength(body.input_ids.length)
  expect(chunk?.prompt?.logprobs[0]).toBeNull()
  expect(chunk?.prompt?.topLogprobs).toMatchObject({ k: 5 })
  expect(chunk?.prompt?.topLogprobs?.ids.slice(0, 6)).toEqual([-1, -1, -1, -1, -1, expect.any(Number)])
  expect(chunk?.tokens.topLogprobs?.ids[0]).toBe(chunk?.tokens.ids[0])
})

describe('a reply that contradicts itself is refused:', () => {
  /** Returns the server's reply: one token, 5, unless `output` replaces it. */
  const reply = (output: object) => ({
    '/generate': {
      ...recording('core-generate-minimal'),
      response: {
        text: 'x',
        meta_info: {
          prompt_tokens: 3,
          completion_tokens: 1,
          output_token_logprobs: [[-1, 5, null]],
          finish_reason: { type: 'length', length: 1 },
        },
        ...output,
      },
    },
  })
  const inconsistent = async (output: object, overrides: Partial<GenerateRequest> = {}) => {
    const server = await replaying(reply(output))
    const error = await failure(Array.fromAsync(client(server.baseUrl).generate(request(overrides), never)))
    expect(error.code).toBe('INCONSISTENT')
    return error.message
  }

  test('an id outside the vocabulary', async () => {
    const server = await replaying(reply({ meta_info: { output_token_logprobs: [[-1, VOCABULARY, null]] } }))
    expect(await failure(Array.fromAsync(client(server.baseUrl).generate(request(), never)))).toMatchObject({
      code: 'TOKENIZER_MISMATCH',
      message: expect.stringContaining('the last id of the chosen tokenizer'),
      hint: expect.stringContaining('“server”'),
    })
    // A foreign id is more informative than an odd logprob: both come from another model.
    const both = await replaying(
      reply({
        meta_info: {
          output_token_logprobs: [
            [0.5, 1, null],
            [-1, VOCABULARY, null],
          ],
        },
      }),
    )
    expect((await failure(Array.fromAsync(client(both.baseUrl).generate(request(), never)))).code).toBe(
      'TOKENIZER_MISMATCH',
    )
  })

  test('a logprob above 0, of the reply or of the prompt, but not one that is above by rounding', async () => {
    expect(await inconsistent({ meta_info: { output_token_logprobs: [[0.5, 5, null]] } })).toContain('logprob 0.5')
    const input = [
      [null, 1, null],
      [-1, 2, null],
      [2, 3, null],
    ]
    const meta = { input_token_logprobs: input, output_token_logprobs: [[-1, 5, null]], finish_reason: null }
    expect(await inconsistent({ meta_info: meta }, { logprobStartLen: 0 })).toContain('logprob 2')
    const server = await replaying(
      reply({ meta_info: { output_token_logprobs: [[1e-7, 5, null]], finish_reason: { type: 'stop' } } }),
    )
    const [chunk] = await Array.fromAsync(client(server.baseUrl).generate(request(), never))
    expect(chunk?.tokens.logprobs).toEqual([1e-7])
  })

  test('ids that are not those of the logprobs', async () => {
    expect(await inconsistent({ output_ids: [6] })).toContain('token id 6 and the logprob of 5')
    expect(await inconsistent({ output_ids: [5, 5] })).toContain('token id 5 and the logprob of none')
  })

  describe('the next-token row that a busy server returns for a request without new tokens', () => {
    const busy = {
      output_ids: [],
      meta_info: {
        prompt_tokens: 3,
        completion_tokens: 0,
        output_token_logprobs: [[-1, 5, null]],
        finish_reason: { type: 'length', length: 0 },
      },
    }
    const scoring = { scoreOnly: true }
    test('is not a token of the reply, whether or not ids and counts are sent', async () => {
      const { prompt_tokens, output_token_logprobs, finish_reason } = busy.meta_info
      const old = { meta_info: { prompt_tokens, output_token_logprobs, finish_reason } }
      for (const output of [busy, old])
        for (const asked of [scoring, { sampling: { max_new_tokens: 0 } }]) {
          const server = await replaying(reply(output))
          const [chunk] = await Array.fromAsync(client(server.baseUrl).generate(request(asked), never))
          expect(chunk).toMatchObject({ tokens: { ids: [] }, problems: [], end: { finish: { kind: 'length' } } })
        }
    })

    test('contradicts the count of a request that generates', async () => {
      expect(await inconsistent(busy)).toBe('the server wrote 0 tokens, 1 arrived')
    })

    test('is a single row: two rows contradict the count', async () => {
      const rows = [
        [-1, 5, null],
        [-2, 6, null],
      ]
      const two = { ...busy, meta_info: { ...busy.meta_info, output_token_logprobs: rows } }
      expect(await inconsistent(two, scoring)).toBe('the server wrote 0 tokens, 2 arrived')
    })

    test('is a token if the server reports that it wrote one', async () => {
      for (const output of [
        { ...busy, output_ids: [5] },
        { ...busy, meta_info: { ...busy.meta_info, completion_tokens: 1, output_token_logprobs: [] } },
      ])
        expect(await inconsistent(output, scoring)).toMatch(/^the server wrote [01] tokens, [01] arrived$/)
    })
  })

  test.each([
    ['prompt_tokens', 4, 'the server read 4 prompt tokens, 3 were sent'],
    ['completion_tokens', 2, 'the server wrote 2 tokens, 1 arrived'],
  ])('another token count: %s', async (field, count, words) => {
    const { meta_info: meta } = reply({})['/generate'].response as { meta_info: object }
    expect(await inconsistent({ meta_info: { ...meta, [field]: count } })).toBe(words)
  })

  test.each([
    ['of the reply', { output_ids: [5], meta_info: { completion_tokens: 1 } }],
    ['of the reply, nor ids', { meta_info: { completion_tokens: 1 } }],
  ])('missing logprobs %s', async (_what, output) => {
    const server = await replaying(reply(output))
    expect(await failure(Array.fromAsync(client(server.baseUrl).generate(request(), never)))).toMatchObject({
      code: 'BAD_SHAPE',
      message: 'the reply lacks the logprobs of its tokens',
    })
  })

  test('requested prompt logprobs that are missing are reported as a note', async () => {
    const server = await replaying(reply({}))
    const [chunk] = await Array.fromAsync(client(server.baseUrl).generate(request({ logprobStartLen: 0 }), never))
    expect(chunk?.prompt).toMatchObject({ logprobs: [], problems: [{ kind: 'missing', column: 'logprobs' }] })
    const [unasked] = await Array.fromAsync(client(server.baseUrl).generate(request(), never))
    expect(unasked).not.toHaveProperty('prompt')
  })

  test('a logprob of null, which is NaN, is unknown and reported as a note', async () => {
    const server = await replaying(
      reply({ meta_info: { output_token_logprobs: [[null, 5, null]], finish_reason: { type: 'stop' } } }),
    )
    const [chunk] = await Array.fromAsync(client(server.baseUrl).generate(request(), never))
    expect(chunk?.tokens.logprobs).toEqual([null])
    expect(chunk?.problems).toMatchObject([{ kind: 'number', column: 'logprobs', index: 0, raw: 'null' }])
  })

  test('prompt logprobs of other ids than those that were sent', async () => {
    const server = await replaying(
      reply({
        meta_info: {
          input_token_logprobs: [
            [null, 2, null],
            [-1, 4, null],
          ],
          output_token_logprobs: [[-1, 5, null]],
          finish_reason: null,
        },
      }),
    )
    expect(
      await failure(Array.fromAsync(client(server.baseUrl).generate(request({ logprobStartLen: 1 }), never))),
    ).toMatchObject({
      code: 'INCONSISTENT',
      message: expect.stringContaining('position 2'),
    })
  })

  test('a logprob of minus infinity becomes null with a note', async () => {
    const server = await replaying(
      reply({
        meta_info: {
          output_token_logprobs: [[-3.4028234663852886e38, 5, null]],
          finish_reason: { type: 'length', length: 1 },
        },
      }),
    )
    const [chunk] = await Array.fromAsync(client(server.baseUrl).generate(request(), never))
    expect(chunk?.tokens.logprobs).toEqual([null])
    expect(chunk?.problems).toMatchObject([
      { kind: 'number', column: 'logprobs', index: 0, raw: '-3.4028234663852886e+38' },
    ])
  })

  test('minus infinity also becomes null in alternatives and in prompt logprobs', async () => {
    const low = -3.4028234663852886e38
    const server = await replaying(
      reply({
        meta_info: {
          input_token_logprobs: [
            [null, 1, null],
            [low, 2, null],
            [-1, 3, null],
          ],
          output_token_logprobs: [
            [-1, 5, null],
            [-1, 6, null],
          ],
          output_top_logprobs: [
            [
              [-1, 5, null],
              [-2, 7, null],
            ],
            [
              [-1, 6, null],
              [low, 8, null],
            ],
          ],
          finish_reason: { type: 'length', length: 2 },
        },
      }),
    )
    const [chunk] = await Array.fromAsync(client(server.baseUrl).generate(request({ logprobStartLen: 0 }), never))
    expect(chunk?.problems).toMatchObject([{ column: 'topLogprobs', index: 1 }])
    expect(chunk?.prompt).toMatchObject({ logprobs: [null, null, -1], problems: [{ column: 'logprobs', index: 1 }] })
  })

  test('alternatives of other tokens than those of the reply', async () => {
    const server = await replaying(
      reply({
        meta_info: {
          output_token_logprobs: [
            [-1, 5, null],
            [-1, 6, null],
          ],
          output_top_logprobs: [[[-1, 5, null]]],
          finish_reason: { type: 'length', length: 2 },
        },
      }),
    )
    expect((await failure(Array.fromAsync(client(server.baseUrl).generate(request(), never)))).code).toBe(
      'INCONSISTENT',
    )
  })

  test('impossible times and versions are dropped', async () => {
    const server = await replaying(
      reply({
        meta_info: {
          output_token_logprobs: [[-1, 5, null]],
          e2e_latency: -2,
          weight_versions: [{ version: 'a', start: 4, end: 1 }],
          finish_reason: { type: 'length', length: 1 },
        },
      }),
    )
    const [chunk] = await Array.fromAsync(client(server.baseUrl).generate(request(), never))
    expect(chunk?.end).not.toHaveProperty('serverMs')
    expect(chunk?.end?.weightVersions).toEqual([{ version: 'a', start: 1, end: 1 }])
  })

  test('the client reads a prompt of 200,000 tokens like a short one', async () => {
    const inputIds = Array.from({ length: 200_000 }, () => 1)
    const server = await replaying(
      reply({
        meta_info: {
          input_token_logprobs: inputIds.map((id) => [-1, id, null]),
          input_top_logprobs: inputIds.map((id) => [[-1, id, null]]),
          output_token_logprobs: [[-1, 5, null]],
          finish_reason: { type: 'length', length: 1 },
        },
      }),
    )
    const [chunk] = await Array.fromAsync(
      client(server.baseUrl).generate(request({ inputIds, logprobStartLen: 0 }), never),
    )
    expect(chunk?.prompt?.topLogprobs?.ids).toHaveLength(200_000)
  })

  test('an event that is too long ends the call with an error code', async () => {
    const endless = await against((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: ')
      const more = () => response.write('x'.repeat(1 << 20), (error) => error || more())
      more()
    })
    expect((await failure(Array.fromAsync(endless.generate(request({ stream: true }), never)))).code).toBe('TOO_LARGE')
  })
})

describe('client reads the reply shape of SGLang', () => {
  const stream = (events: object[]): Recording => ({
    ...recording('stream-plain'),
    stream_lines: [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'],
  })
  const ids = async (events: object[]) => {
    const server = await replaying({ '/generate': stream(events) })
    const chunks = await Array.fromAsync(client(server.baseUrl).generate(request({ stream: true }), never))
    return { ids: chunks.flatMap(({ tokens }) => tokens.ids), text: chunks.at(-1)?.end?.text }
  }
  const stop = { type: 'stop', matched: 9 }

  test('0.4.10: no output_ids, ids only in the logprobs', async () => {
    expect(
      await ids([
        { text: 'a', meta_info: { completion_tokens: 1, finish_reason: null, output_token_logprobs: [[-1, 7, null]] } },
        {
          text: 'ab',
          meta_info: {
            completion_tokens: 2,
            finish_reason: stop,
            output_token_logprobs: [
              [-1, 7, null],
              [-1, 9, null],
            ],
          },
        },
      ]),
    ).toEqual({ ids: [7, 9], text: 'ab' })
  })

  test('0.5.2: cumulative text and logprobs, delta ids', async () => {
    expect(
      await ids([
        {
          text: 'a',
          output_ids: [7],
          meta_info: { completion_tokens: 1, finish_reason: null, output_token_logprobs: [[-1, 7, null]] },
        },
        {
          text: 'ab',
          output_ids: [9],
          meta_info: {
            completion_tokens: 2,
            finish_reason: stop,
            output_token_logprobs: [
              [-1, 7, null],
              [-1, 9, null],
            ],
          },
        },
      ]),
    ).toEqual({ ids: [7, 9], text: 'ab' })
  })
})

describe('the client gives every failure an error code:', () => {
  const page = (
    status: number,
    body: string,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ) => against((_request, response) => response.writeHead(status, headers).end(body))

  test.each([
    ['errors-err-over-length-input', 'CONTEXT_LENGTH', 'longer than the model'],
    ['errors-err-over-length-sum', 'CONTEXT_LENGTH', '4096 tokens'],
    ['errors-err-top-k', 'UPSTREAM_REJECTED', 'top_k'],
    ['errors-err-wrong-type-temperature', 'UPSTREAM_REJECTED', 'expected f64'],
    ['errors-err-malformed-json', 'UPSTREAM_REJECTED', 'JSON decode error'],
    ['errors-err-bad-param-stream', 'UPSTREAM_REJECTED', 'temperature must be'],
    ['auth-wrong-key', 'UPSTREAM_AUTH', 'Unauthorized'],
    ['errors-err-404', 'UPSTREAM_REJECTED', 'Not Found'],
  ])('recorded response %s is %s', async (name, code, words) => {
    const recorded = recording(name)
    const server = await replaying({ '/generate': recorded })
    const error = await failure(
      Array.fromAsync(client(server.baseUrl).generate(request({ stream: recorded.stream_lines !== undefined }), never)),
    )
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) })
  })

  test.each([
    ['errors-err-over-length-input', { needed: 5000, holds: 4096 }],
    ['errors-err-over-length-equal', { needed: 4096, holds: 4096 }],
    ['errors-err-over-length-sum', { needed: 4190, holds: 4096 }],
    ['errors-err-over-length-stream', { needed: 5000, holds: 4096 }],
  ])('recorded refusal %s reports how many tokens were needed and how many fit', async (name, context) => {
    const recorded = recording(name)
    const server = await replaying({ '/generate': recorded })
    const call = client(server.baseUrl).generate(request({ stream: recorded.stream_lines !== undefined }), never)
    expect(await failure(Array.fromAsync(call))).toMatchObject({ code: 'CONTEXT_LENGTH', context })
  })

  test('no service listens', async () => {
    expect(await failure(Array.fromAsync(client('http://127.0.0.1:9').generate(request(), never)))).toMatchObject({
      code: 'CONNECT_REFUSED',
    })
  })

  test('the limit of open files is reported as such, not as a fault of the server', async () => {
    const connect = vi.spyOn(net, 'connect').mockImplementation(() => {
      const error = Object.assign(new Error('connect EMFILE 127.0.0.1:9'), { code: 'EMFILE', syscall: 'connect' })
      return new net.Socket().destroy(error)
    })
    onTestFinished(() => connect.mockRestore())
    expect(await failure(Array.fromAsync(client('http://127.0.0.1:9').generate(request(), never)))).toMatchObject({
      code: 'TOO_MANY_FILES',
      hint: expect.stringContaining('ulimit -n'),
    })
  })

  test.each([301, 302, 303, 307, 308])('a redirect (%d) is not followed', async (status) => {
    let hits = 0
    const canary = await scripted((_request, response) => {
      hits++
      response.end()
    })
    onTestFinished(() => canary.close())
    const error = await failure(
      Array.fromAsync((await page(status, '', { location: `${canary.baseUrl}/generate` })).generate(request(), never)),
    )
    expect([error.code, hits]).toEqual(['UPSTREAM_REDIRECT', 0])
  })

  test.each<[string, number, string, Record<string, string>, string]>([
    ['an HTML page', 200, '<html><body>hi</body></html>', { 'content-type': 'text/html' }, 'UNKNOWN_SERVER'],
    ['cut JSON', 200, '{"text": "a', { 'content-type': 'application/json' }, 'BAD_JSON'],
    ['NaN', 200, '{"text": "a", "meta_info": NaN}', { 'content-type': 'application/json' }, 'BAD_JSON'],
    ['JSON of another kind', 200, '{"choices": []}', { 'content-type': 'application/json' }, 'BAD_SHAPE'],
    ['compressed data', 200, 'xx', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 'BAD_ENCODING'],
    ['a compressed error', 500, 'xx', { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, 'UPSTREAM_ERROR'],
    ['an internal error', 500, 'Internal Server Error', { 'content-type': 'text/plain' }, 'UPSTREAM_ERROR'],
    [
      'a full queue',
      503,
      '{"object":"error","message":"queue full","code":503}',
      { 'content-type': 'application/json' },
      'UPSTREAM_BUSY',
    ],
  ])('response with %s', async (_what, status, body, headers, code) => {
    expect((await failure(Array.fromAsync((await page(status, body, headers)).generate(request(), never)))).code).toBe(
      code,
    )
  })

  test('an error status whose text does not arrive is reported without the text', async () => {
    const mute = await against(
      (_request, response) => {
        response.writeHead(400, { 'content-type': 'application/json' })
        response.write('{"mess')
      },
      { limits: { idleMs: 50 } },
    )
    expect((await failure(Array.fromAsync(mute.generate(request(), never)))).code).toBe('UPSTREAM_REJECTED')
  })

  test('a stream that stops without its end', async () => {
    const first = withLogprobs(recording('inc-plain')).stream_lines?.[0] ?? ''
    const cut = await against((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`${first}\n`)
    })
    const seen: Chunk[] = []
    const error = await failure(
      (async () => {
        for await (const chunk of cut.generate(
          request({ stream: true, inputIds: Array.from({ length: 38 }, () => 1) }),
          never,
        ))
          seen.push(chunk)
      })(),
    )
    expect([error.code, seen.length]).toEqual(['UPSTREAM_TRUNCATED', 1])
  })

  test('a connection that closes in mid-reply', async () => {
    const cut = await against((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"text":')
      setTimeout(() => response.destroy(), 20)
    })
    expect((await failure(Array.fromAsync(cut.generate(request(), never)))).code).toBe('UPSTREAM_TRUNCATED')
  })

  test('a server that stops in mid-stream', async () => {
    const stalled = await against(
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(': hello\n\n')
      },
      { limits: { idleMs: 50 } },
    )
    expect((await failure(Array.fromAsync(stalled.generate(request({ stream: true }), never)))).code).toBe(
      'BODY_TIMEOUT',
    )
  })

  test('a reply that never ends', async () => {
    const endless = await against(
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.write('x'.repeat(100_000))
      },
      { limits: { bodyBytes: 50_000 } },
    )
    expect((await failure(Array.fromAsync(endless.generate(request(), never)))).code).toBe('TOO_LARGE')
  })

  test('the error message contains neither the key nor control characters', async () => {
    const echo = await against(
      (incoming, response) =>
        response
          .writeHead(400, { 'content-type': 'text/plain' })
          .end(`you sent ${incoming.headers.authorization}\u001b[31m`),
      { apiKey: 'sk-canary' },
    )
    const error = await failure(Array.fromAsync(echo.generate(request(), never)))
    expect(error.message).toContain('Bearer [key]')
    expect(error.message).not.toContain('canary')
    expect(error.message).not.toContain('\u001b')
  })

  test.each([
    ['a page', 'text/html', (said: string) => `<h1>401?</h1>${said}`],
    ['no JSON', 'application/json', (said: string) => said],
    ['another shape', 'application/json', (said: string) => JSON.stringify({ meta_info: said })],
    ['another shape, long', 'application/json', (said: string) => JSON.stringify({ meta_info: 'x'.repeat(70) + said })],
    [
      'an abort',
      'application/json',
      (said: string) => JSON.stringify({ meta_info: { finish_reason: { type: 'abort', message: said } } }),
    ],
    [
      'an unknown end',
      'application/json',
      (said: string) => JSON.stringify({ meta_info: { finish_reason: { type: said } } }),
    ],
  ])('the error message does not contain the key that is echoed in %s', async (_what, type, body) => {
    const key = 'sk-canary-0123456789'
    const echo = await against(
      (incoming, response) =>
        response.writeHead(200, { 'content-type': type }).end(body(`${incoming.headers.authorization}`)),
      { apiKey: key },
    )
    const output = await Array.fromAsync(echo.generate(request(), never)).then(
      JSON.stringify,
      (error: Error) => error.message,
    )
    expect(output).not.toContain('canary')
    expect(await echo.describe(never).then(JSON.stringify, (error: Error) => error.message)).not.toContain('canary')
  })
})

describe('a request that would crash the server is not sent:', () => {
  test.each<[string, Partial<GenerateRequest>]>([
    ['no ids', { inputIds: [] }],
    ['an id beyond the vocabulary', { inputIds: [1, VOCABULARY] }],
    ['a negative id', { inputIds: [1, -1] }],
    ['half an id', { inputIds: [1, 2.5] }],
    ['a start before the prompt', { logprobStartLen: -2 }],
    ['a start after it', { logprobStartLen: 4 }],
    ['more alternatives than tokens', { topLogprobsNum: VOCABULARY + 1 }],
  ])('%s', async (_what, overrides) => {
    const server = await replaying({ '/generate': recording('core-generate-minimal') })
    expect((await failure(Array.fromAsync(client(server.baseUrl).generate(request(overrides), never)))).code).toBe(
      'REQUEST_REFUSED',
    )
    expect(server.requests).toEqual([])
  })
})

describe('a retry', () => {
  const eager = { firstMs: 1 }

  test('on a new connection succeeds at once after the server has closed all idle ones, for many calls at a time', async () => {
    const AT_ONCE = 16
    const used = new Set<unknown>()
    const waiting: (() => void)[] = []
    const rids: string[] = []
    const reply = JSON.stringify(withLogprobs(recording('core-generate-minimal')).response)
    const closingIdle = await against(async (incoming, response) => {
      if (used.has(incoming.socket)) {
        incoming.socket.destroy()
        return
      }
      used.add(incoming.socket)
      let body = ''
      for await (const chunk of incoming) body += chunk
      rids.push(JSON.parse(body).rid)
      // No request is answered before all have a connection of their own.
      if (used.size <= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve) === AT_ONCE && resolve())
      for (const answer of waiting.splice(0)) answer()
      response.writeHead(200, { 'content-type': 'application/json' }).end(reply)
    })
    const inputIds = Array.from({ length: 38 }, () => 1)
    const burst = (first: string) =>
      Promise.all(
        Array.from({ length: AT_ONCE }, (_, index) =>
          Array.fromAsync(closingIdle.generate(request({ inputIds, rid: `${first}${index}` }), never)),
        ),
      )
    expect(await burst('first-')).toHaveLength(AT_ONCE)
    // This gives the pool time to notice that its connections are free.
    await new Promise((resolve) => setImmediate(resolve))
    expect((await burst('second-')).every(([chunk]) => chunk?.end)).toBe(true)
    expect(used.size).toBe(2 * AT_ONCE)
    expect(rids.slice(AT_ONCE).sort()).toEqual(Array.from({ length: AT_ONCE }, (_, i) => `second-${i}-2`).sort())
  })

  test('succeeds against a busy server and sends the same body each time', async () => {
    const bodies: { readonly rid: string }[] = []
    const reply = JSON.stringify(withLogprobs(recording('core-generate-minimal')).response)
    const busy = await against(
      async (incoming, response) => {
        let body = ''
        for await (const chunk of incoming) body += chunk
        bodies.push(JSON.parse(body))
        if (bodies.length < 3)
          response
            .writeHead(503, { 'content-type': 'application/json', 'retry-after': '0.01' })
            .end('{"message":"full"}')
        else response.writeHead(200, { 'content-type': 'application/json' }).end(reply)
      },
      { retry: eager },
    )
    const chunks = await Array.fromAsync(
      busy.generate(request({ inputIds: Array.from({ length: 38 }, () => 1) }), never),
    )
    expect(chunks).toHaveLength(1)
    expect(new Set(bodies.map((body) => JSON.stringify({ ...body, rid: '' }))).size).toBe(1)
    // The server may still have the request that failed.
    expect(new Set(bodies.map(({ rid }) => rid)).size).toBe(3)
    expect(chunks[0]?.rid).toBe(bodies[2]?.rid)
  })

  test('succeeds after a stream reported a full queue', async () => {
    let calls = 0
    const refused = { type: 'abort', message: 'The request queue is full.', status_code: 503 }
    const full = await against(
      (_request, response) => {
        calls++
        const event = JSON.stringify({ text: '', meta_info: { finish_reason: refused } })
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${event}\n\ndata: [DONE]\n\n`)
      },
      { retry: eager },
    )
    const error = await failure(Array.fromAsync(full.generate(request({ stream: true }), never)))
    expect(error).toMatchObject({ code: 'UPSTREAM_BUSY', message: expect.stringContaining('queue is full') })
    expect(calls).toBe(4)
  })

  test.each([400, 401, 403, 404, 422])('is not done after status %d', async (status) => {
    let calls = 0
    const no = await against(
      (_request, response) => {
        calls++
        response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":"no"}')
      },
      { retry: eager },
    )
    await failure(Array.fromAsync(no.generate(request(), never)))
    expect(calls).toBe(1)
  })

  test('is held off for a while if the server keeps failing; its status can still be read', async () => {
    let nowMs = 0
    let calls = 0
    let isWell = false
    const clockAndRandom: ClockAndRandom = { nowMs: () => nowMs, random: () => 0.5, wait: async () => {} }
    const model = JSON.stringify(recording('info-get_model_info').response)
    const good = JSON.stringify(withLogprobs(recording('core-generate-minimal')).response)
    const failing = await against(
      (incoming, response) => {
        const isInfo = incoming.method === 'GET'
        if (!isInfo) calls++
        response.writeHead(isInfo || isWell ? 200 : 500, { 'content-type': 'application/json' })
        response.end(isInfo ? model : good)
      },
      { retry: {}, clockAndRandom },
    )
    const call = () =>
      Array.fromAsync(failing.generate(request({ inputIds: Array.from({ length: 38 }, () => 1) }), never))
    for (let n = 0; n < 5; n++) expect((await failure(call())).code).toBe('UPSTREAM_ERROR')
    // The budget allows ten retries for five calls.
    expect(calls).toBe(15)
    expect((await failure(call())).code).toBe('CIRCUIT_OPEN')
    nowMs += 12_000
    const error = await failure(call())
    expect(error).toMatchObject({
      code: 'CIRCUIT_OPEN',
      retryAfterMs: 18_000,
      hint: 'Check the server’s log. The next call after that time tests the server.',
    })
    expect(error.message).toMatch(
      /^not sent because .* failed \(UPSTREAM_ERROR: .*\); the next call is possible in 18 s$/,
    )
    expect(await failing.describe(never)).toMatchObject({ modelName: 'tiny-qwen3' })
    expect((await failure(call())).code).toBe('CIRCUIT_OPEN')
    expect(calls).toBe(15)
    isWell = true
    nowMs += 18_000
    expect(await call()).toHaveLength(1)
    expect(await call()).toHaveLength(1)
  })

  test('of one prompt that the server cannot handle blocks no other prompt', async () => {
    let nowMs = 0
    const good = JSON.stringify(withLogprobs(recording('core-generate-minimal')).response)
    const server = await against(
      async (incoming, response) => {
        let body = ''
        for await (const part of incoming) body += part
        const isPoison = JSON.parse(body).input_ids.length === 1
        response.writeHead(isPoison ? 500 : 200, { 'content-type': 'application/json' }).end(good)
      },
      { retry: {}, clockAndRandom: { nowMs: () => nowMs, random: () => 0.5, wait: async () => {} } },
    )
    for (let n = 0; n < 4; n++) {
      nowMs += 60_000
      expect((await failure(Array.fromAsync(server.generate(request({ inputIds: [1] }), never)))).code).toBe(
        'UPSTREAM_ERROR',
      )
    }
    expect(
      await Array.fromAsync(server.generate(request({ inputIds: Array.from({ length: 38 }, () => 1) }), never)),
    ).toHaveLength(1)
  })

  test('stops if other calls have failed meanwhile', async () => {
    let calls = 0
    const waiting: (() => void)[] = []
    const failing = await against(
      (_request, response) => {
        calls++
        response.writeHead(500).end()
      },
      {
        retry: {},
        clockAndRandom: {
          nowMs: () => 0,
          random: () => 0.5,
          wait: (ms) => (ms > 500 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
        },
      },
    )
    const codes = Array.from({ length: 6 }, () => failure(Array.fromAsync(failing.generate(request(), never))))
    await expect.poll(() => waiting.length).toBe(6)
    for (const go of waiting.slice(0, 5)) go()
    await Promise.all(codes.slice(0, 5))
    expect((await failure(Array.fromAsync(failing.generate(request(), never)))).code).toBe('CIRCUIT_OPEN')
    const before = calls
    waiting[5]?.()
    expect((await codes[5])?.code).toBe('CIRCUIT_OPEN')
    expect(calls).toBe(before)
  })

  test('has a limit, and is not done after tokens have arrived', async () => {
    let calls = 0
    const first = withLogprobs(recording('inc-plain')).stream_lines?.[0] ?? ''
    const cut = await against(
      (_request, response) => {
        calls++
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`${first}\n`, () => response.destroy())
      },
      { retry: eager },
    )
    await failure(
      Array.fromAsync(cut.generate(request({ stream: true, inputIds: Array.from({ length: 38 }, () => 1) }), never)),
    )
    expect(calls).toBe(1)
    calls = 0
    const always = await against(
      (_request, response) => {
        calls++
        response.writeHead(500).end()
      },
      { retry: eager },
    )
    await failure(Array.fromAsync(always.generate(request(), never)))
    expect(calls).toBe(4)
  })
})

test('stopping to read closes the connection', async () => {
  let closed = false
  const first = withLogprobs(recording('inc-plain')).stream_lines?.[0] ?? ''
  const open = await against((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`${first}\n`)
    response.on('close', () => {
      closed = true
    })
  })
  for await (const _chunk of open.generate(
    request({ stream: true, inputIds: Array.from({ length: 38 }, () => 1) }),
    never,
  ))
    break
  await expect.poll(() => closed).toBe(true)
})

test('an abort signal ends a call with the signal’s reason', async () => {
  const silent = await against(() => {})
  const controller = new AbortController()
  const call = Array.fromAsync(silent.generate(request(), controller.signal))
  controller.abort(new Error('stop'))
  await expect(call).rejects.toThrow('stop')
})

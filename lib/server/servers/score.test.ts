/** Tests scoring with a client that answers as SGLang does: what each call requests, and what is refused before any call. */
import { describe, expect, test } from 'vitest'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { Chunk, End } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { int32Base64, unpackExperts } from '#lib/trajectory/experts/routed-experts.ts'
import { type ScoreRequest, scoreRequestSchema } from '#lib/trajectory/scoring/score.ts'
import { byteTokenizerWith } from '#testing/byte-tokenizer.ts'
import { JPEG_URL, PNG_URL } from '#testing/images.ts'
import { type ScoringScript, scoringServer } from '#testing/scoring-server.ts'
import { openScoring, scoreAtOnce, scoreLines } from './score.ts'

const { signal } = new AbortController()

const server = (script?: ScoringScript) => {
  const { calls, services } = scoringServer(script)
  return { calls, open: (request: ScoreRequest) => openScoring(request, services, signal) }
}

const bytes = (count: number): number[] => Array.from({ length: count }, (_, index) => index % 256)
const linesOf = async (opened: ReturnType<ReturnType<typeof server>['open']>) =>
  Array.fromAsync(scoreLines(await opened, signal))

test('Scoring of ranges sends growing prefixes, from one position before each range, in calls of bounded length', async () => {
  const { calls, open } = server()
  const lines = await linesOf(
    open({
      ids: bytes(5000),
      ranges: [
        { start: 10, end: 30 },
        { start: 40, end: 4200 },
      ],
    }),
  )
  expect(calls.map(({ inputIds, logprobStartLen }) => [inputIds.length, logprobStartLen])).toEqual([
    [30, 9],
    [2088, 39],
    [4136, 2087],
    [4200, 4135],
  ])
  expect(calls.every(({ scoreOnly, stream }) => scoreOnly && !stream)).toBe(true)
  expect(lines.map(({ kind }) => kind)).toEqual(['server', 'scores', 'scores', 'scores', 'scores', 'done'])
  expect(lines[0]).toEqual({
    kind: 'server',
    name: 's',
    modelName: 'm',
    weightVersion: '7',
    tokenizer: { name: 'bytes', fingerprint: 'bytes' },
  })
  expect(lines[1]).toMatchObject({ start: 10, weightVersion: '7', cachedTokens: 9 })
  for (const line of lines)
    if (line.kind === 'scores') expect(line.logprobs).toEqual(line.logprobs.map((_, index) => -(line.start + index)))
})

test('Scoring uses the adapter of the request, and that of a range before it, for every call', async () => {
  const { calls, open } = server()
  await linesOf(
    open({
      ids: bytes(5000),
      adapter: 'math',
      ranges: [
        { start: 0, end: 4 },
        { start: 4, end: 3000, adapter: 'code' },
      ],
    }),
  )
  expect(calls.map(({ inputIds, adapter }) => [inputIds.length, adapter])).toEqual([
    [4, 'math'],
    [2052, 'code'],
    [3000, 'code'],
  ])
  await linesOf(open({ ids: [1, 2], ranges: [{ start: 0, end: 2 }] }))
  expect(calls.at(-1)).not.toHaveProperty('adapter')
})

describe('Scoring of ids with images', () => {
  const PAD = 300
  const tokenizer = byteTokenizerWith('vision', [{ id: PAD, content: '<|image_pad|>', special: true }], 0)
  const pads = (count: number) => Array.from({ length: count }, () => PAD)
  const opened = (request: Partial<ScoreRequest>, script: ScoringScript = { tokenizer }) => {
    const { calls, open } = server(script)
    return { calls, opened: open({ ids: [1, 2], images: [PNG_URL], ...request }) }
  }

  test('sends with each call the images of its prefix, and reads an image to its end', async () => {
    const ids = [1, 2, ...pads(3), 4, ...pads(2), 6]
    const ranges = [
      { start: 1, end: 4 },
      { start: 5, end: 6 },
      { start: 6, end: 9 },
    ]
    const { calls, opened: scoring } = opened({ ids, images: [PNG_URL, JPEG_URL], ranges })
    const lines = await linesOf(scoring)
    expect(calls.map(({ inputIds, images }) => [inputIds.length, images?.urls, images?.spans])).toEqual([
      [5, [PNG_URL], [{ start: 2, end: 5 }]],
      [6, [PNG_URL], [{ start: 2, end: 5 }]],
      [
        9,
        [PNG_URL, JPEG_URL],
        [
          { start: 2, end: 5 },
          { start: 6, end: 8 },
        ],
      ],
    ])
    const scores = lines.flatMap((line) => (line.kind === 'scores' ? [[line.start, ...line.logprobs]] : []))
    expect(scores).toEqual([
      [1, -1, -2, -3],
      [5, -5],
      [6, -6, -7, -8],
    ])
  })

  test.each([
    [
      'another number of placeholders',
      { ids: [1, PAD, 2, PAD] },
      'IMAGE_PLACEHOLDERS',
      'the ids have 2 image placeholders, expected 1, one for each image',
    ],
    ['an address', { ids: [1, PAD], images: ['https://a/b.png'] }, 'IMAGE_REFUSED', 'image 1 cannot be sent'],
  ])('is refused with %s', async (_, request, code, detail) => {
    const { calls, opened: scoring } = opened(request)
    await expect(scoring).rejects.toMatchObject({
      details: { status: 422, code, detail: expect.stringContaining(detail) },
    })
    expect(calls).toEqual([])
  })

  test('is refused without the files of the tokenizer, because placeholders are unknown then', async () => {
    const { opened: scoring } = opened({ ids: [1, PAD] }, { hasFiles: false })
    await expect(scoring).rejects.toMatchObject({
      details: { code: 'IMAGE_PLACEHOLDERS', hint: expect.stringContaining('ROLLSCOPE_TOKENIZERS') },
    })
  })
})

test('Scoring in one answer covers all positions from startLen on, and the very first token has no logprob', async () => {
  const { open } = server()
  expect(await scoreAtOnce(await open({ ids: [1, 2, 3] }), signal)).toMatchObject({
    start: 0,
    logprobs: [null, -1, -2],
  })
  expect(await scoreAtOnce(await open({ ids: [1, 2, 3], startLen: 2 }), signal)).toMatchObject({
    start: 2,
    logprobs: [-2],
  })
})

describe('Scoring refuses before it sends anything', () => {
  test('a sequence that does not fit into the context, which is never cut', async () => {
    const { calls, open } = server({ contextLength: 30 })
    await expect(open({ ids: bytes(30) })).rejects.toMatchObject({ details: { code: 'CONTEXT_LENGTH', field: 'ids' } })
    await expect(open({ ids: bytes(40), ranges: [{ start: 0, end: 29 }] })).resolves.toBeDefined()
    expect(calls).toEqual([])
  })

  test('an id that the server does not have, which would end the server', async () => {
    await expect(server().open({ ids: [5000] })).rejects.toMatchObject({ details: { code: 'OTHER_TOKENIZER' } })
    const without = { hasFiles: false }
    await expect(server({ ...without, detokenized: async () => [''] }).open({ ids: [5000] })).rejects.toMatchObject({
      details: { code: 'OTHER_TOKENIZER' },
    })
    await expect(server(without).open({ ids: [5000] })).resolves.toMatchObject({ server: { name: 's' } })
    const detokenized = async () => {
      throw new EngineError('UPSTREAM_REJECTED', 'not found')
    }
    await expect(server({ ...without, detokenized }).open({ ids: [1] })).rejects.toMatchObject({
      details: { code: 'NO_TOKENIZER' },
    })
  })

  test('an invalid range', () => {
    const isGood = (request: unknown) => scoreRequestSchema.safeParse(request).success
    const ids = [1, 2, 3]
    expect(
      isGood({
        ids,
        ranges: [
          { start: 0, end: 2 },
          { start: 2, end: 3 },
        ],
      }),
    ).toBe(true)
    for (const bad of [
      { ids: [] },
      { ids, startLen: 3 },
      { ids, ranges: [{ start: 1, end: 1 }] },
      { ids, ranges: [{ start: 1, end: 4 }] },
      {
        ids,
        ranges: [
          { start: 1, end: 3 },
          { start: 2, end: 3 },
        ],
      },
      { ids, ranges: [{ start: 1, end: 3 }], startLen: 1 },
    ])
      expect(isGood(bad)).toBe(false)
  })
})

describe('Scoring with routed experts', () => {
  /** Adds one entry for each requested token, its position. */
  const routing = (change: (entries: readonly number[]) => readonly number[] | undefined = (entries) => entries) => {
    const opened = server({
      answer: (chunk, call) => {
        const { routedExpertsStart: start = 0, inputIds } = opened.calls[call - 1] as GenerateRequest
        const entries = change(inputIds.slice(start, -1).map((_, row) => start + row))
        const experts = entries && { routedExperts: int32Base64(Int32Array.from(entries)) }
        return { ...chunk, end: { ...(chunk.end as End), ...experts } }
      },
    })
    return opened
  }

  test('requests them from one position before each range, and returns those of all tokens but the last', async () => {
    const { calls, open } = routing()
    const found = await scoreAtOnce(await open({ ids: bytes(3000), routedExperts: true }), signal)
    expect(calls.map(({ routedExpertsStart }) => routedExpertsStart)).toEqual([0, 2047])
    const rows = found.routedExperts && unpackExperts(found.routedExperts)
    expect([rows?.start, rows?.perToken, rows?.entries.length]).toEqual([0, 1, 2999])
    expect(Array.from(rows?.entries.slice(2040, 2050) ?? [])).toEqual(Array.from({ length: 10 }, (_, at) => 2040 + at))
  })

  test('returns none of a single first token, which no pass has read before another', async () => {
    expect(await scoreAtOnce(await routing().open({ ids: [1], routedExperts: true }), signal)).not.toHaveProperty(
      'routedExperts',
    )
  })

  test.each([
    ['none', () => undefined, 'the server returned no routed experts'],
    [
      'some of them',
      (entries: readonly number[]) => entries.slice(1).concat(1, 2),
      /^The server returned 4 routed experts for 3/,
    ],
  ] as const)('fails if the server returns %s', async (_, change, message) => {
    const opened = routing(change)
    await expect(scoreAtOnce(await opened.open({ ids: bytes(4), routedExperts: true }), signal)).rejects.toMatchObject({
      code: 'INCONSISTENT',
      message: expect.stringMatching(message),
    })
  })
})

test('Scoring reports a failure on the way as the last line', async () => {
  const ranges = [
    { start: 1, end: 2 },
    { start: 2, end: 3 },
  ]
  const failing = (change: Partial<Chunk>) =>
    server({ answer: (chunk, call) => (call === 1 ? chunk : { ...chunk, ...change }) }).open({ ids: [1, 2, 3], ranges })
  const last = async (change: Partial<Chunk>) =>
    (await linesOf(failing(change))).map((line) => [line.kind, 'detail' in line ? line.detail : ''])
  expect(await last({ end: { finish: { kind: 'abort' }, usage: {} } })).toEqual([
    ['server', ''],
    ['scores', ''],
    ['failed', 'the server aborted: it reports no reason'],
  ])
  expect((await last({ prompt: { logprobs: [], problems: [] } })).at(-1)?.[1]).toBe(
    'the server scored 0 of 1 positions',
  )
  expect((await last({ tokens: { ids: [4] } })).at(-1)?.[1]).toMatch(/^the server wrote 1 tokens/)
})

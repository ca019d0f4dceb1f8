/** Tests POST /api/retokenize with the shipped model's tokenizer and the examples as stored trajectories. */
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BUILT_IN } from '#lib/api/server-name.ts'
import { MODEL_FOLDER } from '#lib/builtin-server/test-model.ts'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { chatml } from '#testing/small-templates.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { checkedJson } from '../http/body.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { type CompareThread, createCompareThread } from './comparing.ts'
import { answerRetokenize, retokenizeAnswerSchema, retokenizeRequestSchema } from './retokenize.ts'

const folder = folderOfFile()

const drifting = exampleTrajectory('retokenization-drift')
const stored: Readonly<Record<string, Trajectory>> = {
  drifting,
  steady: exampleTrajectory('two-steps'),
  'by the server': {
    ...drifting,
    model: { ...drifting.model, tokenizer: { name: 'theirs', source: 'server', specialIds: [] } },
  },
  'without messages': {
    ...drifting,
    segments: drifting.segments.map((segment) => (segment.kind === 'prompt' ? { ...segment, messages: [] } : segment)),
  },
}
const keys = new Map<unknown, string>()
const places = {
  builtIn: { [BUILT_IN]: MODEL_FOLDER },
  folders: [],
  hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: folder },
}
let store: TrajectoryStore
let comparing: CompareThread
let tokenizer: Tokenizer
beforeAll(async () => {
  store = openTrajectoryStore(folder, { now: () => new Date() })
  for (const [name, trajectory] of Object.entries(stored)) keys.set(name, store.add(trajectory))
  comparing = createCompareThread({
    workerFile: path.resolve('lib/server/compare/compare-worker.ts'),
    start: { dataFolder: folder, examplesFolder: folder, tokenizers: places },
  })
  tokenizer = (await createTokenizerLoader(places).load(BUILT_IN)).tokenizer
})
afterAll(async () => {
  await comparing.close()
  store.close()
})

/** Sends a request as the route does, without a tokenizer on the serving thread. */
const ask = async ({ trajectory, ...rest }: { readonly trajectory?: string; readonly [field: string]: unknown }) => {
  const body = trajectory === undefined ? rest : { ...rest, trajectory: keys.get(trajectory) ?? trajectory }
  const request = checkedJson(JSON.stringify(body), retokenizeRequestSchema)
  const response = await answerRetokenize(
    request,
    { comparing, store } as unknown as Services,
    new AbortController().signal,
  )
  return retokenizeAnswerSchema.parse(await response.json())
}
const problem = async (body: Parameters<typeof ask>[0]) => {
  const error = await ask(body).catch((thrown: unknown) => thrown)
  if (!(error instanceof HttpProblem)) throw error
  return error.details
}

describe('Retokenize of plain ids', () => {
  test('returns the ids that the tokenizer gives for their text', async () => {
    const letters = Array.from('What is 25 * 17?', (letter) => tokenizer.encode(letter)).flat()
    const answer = await ask({ ids: letters, mode: 'text' })
    expect(answer).toMatchObject({
      ids: tokenizer.encode('What is 25 * 17?'),
      text: 'What is 25 * 17?',
      mask: null,
      firstDrift: 0,
      segments: [{ kind: 'prompt', start: 0, end: answer.ids.length }],
      caveats: [],
      tokenizer: { name: BUILT_IN, fingerprint: tokenizer.fingerprint },
    })
    expect(answer.vocab[answer.ids[0] as number]).toBeTypeOf('string')
  })

  test('finds no drift in canonical ids', async () => {
    expect(await ask({ ids: tokenizer.encode('a b'), mode: 'text', tokenizer: BUILT_IN })).toMatchObject({
      firstDrift: null,
      perSegment: [{ drifted: 0 }],
    })
  })

  test('reports a caveat for ids that the tokenizer does not have', async () => {
    const [known = 0] = tokenizer.encode('a')
    const { caveats, ids: found } = await ask({ ids: [known, 99_999, 99_998], mode: 'text' })
    expect(caveats).toEqual([expect.stringContaining('2 tokens with an id that the tokenizer does not have')])
    expect(found).toEqual([known])
  })
})

describe('Retokenize of a stored trajectory', () => {
  test('as text returns the first drift, the mask, the segments, and each segment encoded alone', async () => {
    const answer = await ask({ trajectory: 'drifting', mode: 'text' })
    const own = ids(drifting)
    expect(answer.ids.slice(0, answer.firstDrift ?? -1)).toEqual(own.slice(0, answer.firstDrift ?? -1))
    expect(answer.ids[answer.firstDrift ?? -1]).not.toBe(own[answer.firstDrift ?? -1])
    expect(answer.segments.map(({ kind }) => kind)).toEqual(['prompt', 'response', 'prompt', 'response'])
    expect(answer.mask?.length).toBe(answer.ids.length)
    expect(answer.perSegment?.map(({ drifted }) => drifted > 0)).toEqual([false, true, false, false])
  })

  test.each(['structured', 'raw'] as const)('as %s messages returns a response for each reply', async (mode) => {
    const answer = await ask({ trajectory: 'steady', mode })
    expect(answer.segments.filter(({ kind }) => kind === 'response')).toHaveLength(3)
    expect(answer).not.toHaveProperty('perSegment')
    // The template ends the last turn with a line break that the model did not write.
    expect(answer).toMatchObject({ firstDrift: ids(stored.steady as Trajectory).length, caveats: [] })
  })

  test('renders with another template', async () => {
    const { text } = await ask({ trajectory: 'steady', mode: 'raw', template: chatml })
    expect(text).toMatch(/^<\|im_start\|>system\n\[\{"type": "function"/)
  })
})

describe('Retokenize refuses', () => {
  test.each([
    [{ mode: 'text' }, { code: 'BAD_REQUEST', detail: expect.stringContaining('either "ids" or "trajectory"') }],
    [{ ids: [1], trajectory: 'steady', mode: 'text' }, { detail: expect.stringContaining('either "ids" or') }],
    [{ ids: [1], mode: 'raw' }, { detail: expect.stringContaining('"mode" text with ids') }],
    [{ ids: [], mode: 'text' }, { field: 'ids' }],
    [{ ids: [1], mode: 'text', x: 1 }, { code: 'BAD_REQUEST' }],
    [{ trajectory: 'steady', mode: 'text', template: 'x' }, { detail: expect.stringContaining('no "template"') }],
    [
      { trajectory: 'none', mode: 'text' },
      { status: 404, code: 'NO_TRAJECTORY', hint: expect.any(String) },
    ],
    [
      { trajectory: 'by the server', mode: 'text' },
      { status: 422, code: 'NO_TOKENIZER', hint: expect.any(String) },
    ],
    [
      { trajectory: 'without messages', mode: 'raw' },
      { status: 422, code: 'NOT_RETOKENIZED', hint: expect.stringContaining('Compare as text') },
    ],
    [
      { trajectory: 'steady', mode: 'raw', template: "a\n{{ raise_exception('only once') }}" },
      { code: 'NOT_RETOKENIZED', detail: expect.stringContaining('TemplateError: only once (line 2 of the template)') },
    ],
    [
      { trajectory: 'steady', mode: 'raw', template: '{{ "a" * 10 ** 10 }}' },
      { detail: expect.stringContaining('BudgetError') },
    ],
  ])('the request %j', async (body, expected) => {
    expect(await problem(body)).toMatchObject(expected)
  })
})

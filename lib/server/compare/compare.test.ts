/** Tests POST /api/compare with its thread and a real store. */
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { ids, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { checkedJson } from '../http/body.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { answerCompare, compareAnswerSchema, compareRequestSchema } from './compare.ts'
import { type CompareThread, createCompareThread } from './comparing.ts'

const folder = folderOfFile()
const examplesFolder = path.resolve('public/examples')
const drifting = exampleTrajectory('retokenization-drift')
let store: TrajectoryStore
let comparing: CompareThread
let key: string

const threadOf = (longestMs?: number) =>
  createCompareThread({
    workerFile: path.resolve('lib/server/compare/compare-worker.ts'),
    ...(longestMs !== undefined && { longestMs }),
    start: {
      dataFolder: folder,
      examplesFolder,
      tokenizers: {
        builtIn: { 'built-in': path.resolve('models/tiny-qwen3') },
        folders: [],
        hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: folder },
      },
    },
  })

beforeAll(() => {
  store = openTrajectoryStore(folder, { now: () => new Date() })
  key = store.add(drifting)
  comparing = threadOf()
})
afterAll(async () => {
  await comparing.close()
  store.close()
})

/** Sends a request as the route does. */
const ask = async (body: unknown, thread = comparing) => {
  const request = checkedJson(JSON.stringify(body), compareRequestSchema)
  const response = await answerCompare(request, { comparing: thread } as Services, new AbortController().signal)
  return compareAnswerSchema.parse(await response.json())
}
const problem = async (body: unknown, thread = comparing) => {
  const error: unknown = await ask(body, thread).catch((reason: unknown) => reason)
  if (!(error instanceof HttpProblem)) throw new Error('it was not refused')
  return error.details
}

test('Compare finds the known drift between a stored trajectory and its text', async () => {
  const { report, caveats, alignedRuns } = await ask({ left: key, right: `${key}~text` })
  expect(report.spans).toHaveLength(3)
  expect(report.tokens.left).toBe(tokenCount(drifting))
  expect(alignedRuns).toBeUndefined()
  expect(caveats.left).toEqual([])
})

test('Compare reports the same drift for every way to name the sides', async () => {
  const { report } = await ask({ left: key, right: `${key}~text` })
  const inline = { trajectory: drifting, as: { kind: 'text' } }
  for (const right of [inline, { trajectory: key, as: { kind: 'text' } }, 'example:retokenization-drift~text'])
    expect((await ask({ left: { trajectory: key }, right })).report).toEqual(report)
})

test('Compare returns aligned runs that cover both sides in order', async () => {
  const { report, alignedRuns = [] } = await ask({ left: key, right: `${key}~structured`, alignedRuns: true })
  for (const side of ['left', 'right'] as const) {
    let at = 0
    for (const run of alignedRuns) {
      expect(run[side].start).toBe(at)
      at = run[side].end
    }
    expect(at).toBe(report.tokens[side])
  }
})

test('Compare still returns aligned runs under their former name, stretches', async () => {
  const { alignedRuns, stretches } = await ask({ left: key, right: `${key}~structured`, stretches: true })
  expect(stretches).toEqual(alignedRuns)
  expect(stretches).not.toEqual([])
})

test('Compare of plain ids with a trajectory matches them by the bytes of a tokenizer', async () => {
  const all = ids(drifting)
  const equal = await ask({ left: { ids: all, tokenizer: 'built-in' }, right: key })
  expect(equal.report.spans).toEqual([])
  const cut = await ask({ left: key, right: { ids: all.slice(0, 40), tokenizer: 'built-in' } })
  expect(cut.report.spans).toMatchObject([{ left: { start: 40, end: all.length }, right: { start: 40, end: 40 } }])
})

test('Compare renders a side with another template', async () => {
  const template = '{% for message in messages %}[{{ message.role }}]{{ message.content }}{% endfor %}'
  const { report } = await ask({ left: key, right: { trajectory: key, as: { kind: 'structured', template } } })
  expect(report.spans[0]?.left.start).toBe(0)
  const theirs = await ask({ left: key, right: `${key}~structured~template=tokenizer:built-in` })
  expect(theirs.report.tokens.left).toBe(tokenCount(drifting))
})

describe('Compare refuses', () => {
  test.each<[string, unknown, object]>([
    ['no such key', { left: 'nobody', right: 'nobody~text' }, { status: 404, code: 'NO_TRAJECTORY', field: 'left' }],
    ['no such example', { left: 'example:../../package', right: 'x' }, { status: 404, code: 'NO_TRAJECTORY' }],
    ['no text of a side', { left: 'a~sideways', right: 'a' }, { status: 422, code: 'BAD_REQUEST', field: 'left' }],
    [
      'ids that the tokenizer lacks',
      { left: { ids: [1, 99_999_999], tokenizer: 'built-in' }, right: 'example:two-steps' },
      { status: 422, code: 'FOREIGN_ID', field: 'left.ids' },
    ],
    [
      'the document of a browser',
      { left: 'example:two-steps', right: 'example:two-steps~raw~template=lab' },
      { status: 422, code: 'NO_TEMPLATE', field: 'right' },
    ],
    [
      'a template that raises',
      {
        left: 'example:two-steps',
        right: {
          trajectory: exampleTrajectory('two-steps'),
          as: { kind: 'raw', template: '{{ raise_exception("no") }}' },
        },
      },
      { status: 422, code: 'NO_SIDE', field: 'right', detail: expect.stringContaining('no') },
    ],
    [
      'a trajectory that is none',
      { left: { trajectory: { format: 'rollscope/1' } }, right: 'example:two-steps' },
      { status: 422, code: 'BAD_TRAJECTORY', field: 'left' },
    ],
    [
      'not run over a chat endpoint',
      { left: 'example:two-steps', right: 'example:two-steps~read' },
      { status: 422, code: 'NO_SIDE', field: 'right' },
    ],
  ])('%s', async (_, body, details) => {
    expect(await problem(body)).toMatchObject(details)
  })

  test('a tokenizer that is not there, with the error of its thread, which the router reports as 422', async () => {
    const asked = ask({ left: 'example:two-steps', right: 'example:two-steps~text~tokenizer=no/such' })
    await expect(asked).rejects.toBeInstanceOf(TokenizerError)
  })

  test.each([
    { left: 'a' },
    { left: 'a', right: 'b', mode: 'text' },
    { left: { trajectory: 'a', as: { kind: 'text', template: 'x' } }, right: 'b' },
    { left: { ids: [], tokenizer: 'built-in' }, right: 'b' },
    { left: { ids: [1] }, right: 'b' },
  ])('the request %j by its schema', (body) => {
    expect(() => checkedJson(JSON.stringify(body), compareRequestSchema)).toThrow(HttpProblem)
  })
})

test('Compare ends a request that takes too long, and answers the next one', async () => {
  const hurried = threadOf(1)
  expect(await problem({ left: key, right: `${key}~text` }, hurried)).toMatchObject({ code: 'TOO_SLOW' })
  await hurried.close()
  expect((await ask({ left: key, right: key })).report.spans).toEqual([])
})

/** Tests prompt logprobs of a stored run with a real store and a client that scores as SGLang does. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServerDescription } from '#lib/api/server-status.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { trajectorySchema } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { testServices } from '#testing/services.ts'
import { chatml } from '#testing/small-templates.ts'
import type { Services } from '../services.ts'
import { addPromptLogprobs } from './prompt-logprobs.ts'
import { continueRollout, startRollout } from './rollouts.ts'

const END = byteId('<|im_end|>')
const never = new AbortController().signal

let all: Services
let requests: GenerateRequest[]
let described: Partial<ServerDescription>
/** Runs while the server scores. */
let meanwhile: () => void
beforeEach(() => {
  requests = []
  described = { modelName: 'm', tokenizerName: 't', weightVersion: '1', contextLength: 4096 }
  meanwhile = () => {}
  all = testServices(folderOfTest(), {
    generate: async function* (request) {
      requests.push(request)
      const version = String(described.weightVersion)
      const prompt = request.logprobStartLen === undefined ? {} : { prompt: promptScores(request) }
      if (!request.scoreOnly) {
        const weightVersions = [{ version, start: 0, end: 2 }]
        const end = { finish: { kind: 'stop', matched: END }, usage: {}, weightVersions } as const
        yield { ...prompt, tokens: { ids: [...byteTokenizer.encode('y'), END], logprobs: [-1, -1] }, problems: [], end }
        return
      }
      meanwhile()
      const weightVersions = [{ version, start: 0, end: 0 }]
      yield {
        ...prompt,
        tokens: { ids: [] },
        problems: [],
        end: { finish: { kind: 'length' }, usage: {}, weightVersions },
      }
    },
    describe: async () => described,
    template: () => chatml,
  })
})
afterEach(() => all.store.close())

/** Returns the scores of a prompt: position n has the logprob −n, except for the first requested one, and z as each alternative. */
function promptScores({ inputIds, logprobStartLen: from = 0, topLogprobsNum: k }: GenerateRequest) {
  const positions = inputIds.slice(from).map((_, offset) => from + offset)
  const cells = positions.flatMap((_, offset) => Array.from({ length: k }, () => (offset === 0 ? -1 : 122)))
  return {
    logprobs: positions.map((position, offset) => (offset === 0 ? null : -position)),
    ...(k > 0 && { topLogprobs: { k, ids: cells, logprobs: cells.map((id) => (id === -1 ? null : -1)) } }),
    problems: [],
  }
}

async function run(
  settings: { promptLogprobs?: boolean; topLogprobs?: number; adapter?: string } = {},
): Promise<string> {
  const { rolloutId, key } = await startRollout({ prompt: 'a?', ...settings }, all, never)
  for await (const _ of all.runs.follow(rolloutId, 0, never));
  const further = await continueRollout(key, { prompt: 'b?', ...settings }, all, never)
  for await (const _ of all.runs.follow(further.rolloutId, 0, never));
  return key
}
const add = (key: string, request: { server?: string } = {}) => addPromptLogprobs(key, request, all, never)
const stored = (key: string) => all.store.get(key) as Trajectory
const prompts = ({ segments }: Trajectory) => segments.filter(({ kind }) => kind === 'prompt')
const scorings = () => requests.filter(({ scoreOnly }) => scoreOnly)

test('A run with a LoRA adapter names it in every call and in its record, also when its prompts are scored', async () => {
  described = { ...described, adapters: ['math'] }
  const key = await run({ adapter: 'math' })
  await add(key)
  expect(requests.length).toBeGreaterThan(2)
  expect(requests.every(({ adapter }) => adapter === 'math')).toBe(true)
  const responses = stored(key).segments.flatMap((segment) => (segment.kind === 'response' ? [segment] : []))
  expect(responses.map(({ request }) => request?.adapter)).toEqual(['math', 'math'])
  await expect(run({ adapter: 'code' })).rejects.toMatchObject({ details: { code: 'NO_ADAPTER', field: 'adapter' } })
})

test('A run requests no prompt logprobs by default', async () => {
  const key = await run()
  expect(requests.every(({ logprobStartLen, scoreOnly }) => logprobStartLen === undefined && !scoreOnly)).toBe(true)
  expect(prompts(stored(key)).map(({ logprobs }) => logprobs)).toEqual([undefined, undefined])
})

test('Prompt logprobs that are requested after a run equal those that the run would have stored', async () => {
  const [after, during] = [await run(), await run({ promptLogprobs: true })]
  const added = await add(after)
  expect(added).toEqual(stored(after))
  expect(trajectorySchema.safeParse(added).success).toBe(true)
  const plain = (trajectory: Trajectory) =>
    prompts(trajectory).map(({ ids, logprobs, topLogprobs }) => ({ ids, logprobs, topLogprobs }))
  expect(plain(added)).toEqual(plain(stored(during)))
  expect(prompts(added)).toMatchObject([1, 2].map(() => ({ scored: { server: 'fast', weightVersion: '1' } })))
  expect(ids(added)).toEqual(ids(stored(during)))
  // Alternatives add tokens that the trajectory did not have.
  expect(added.vocab).toMatchObject({ 122: 'z' })
})

test('Prompt logprobs are requested only for prompts without them, each from its first position', async () => {
  const key = await run()
  await add(key)
  const [first, second] = prompts(stored(key))
  expect(scorings().map(({ logprobStartLen, topLogprobsNum }) => [logprobStartLen, topLogprobsNum])).toEqual([
    [0, 5],
    [(first?.ids.length ?? 0) + 1, 5],
  ])
  expect(second?.logprobs?.every((logprob) => logprob !== null)).toBe(true)
  await add(key)
  expect(scorings()).toHaveLength(2)
})

test('Prompt logprobs of a run without alternatives have none either', async () => {
  const added = await add(await run({ topLogprobs: 0 }))
  expect(scorings().every(({ topLogprobsNum }) => topLogprobsNum === 0)).toBe(true)
  expect(prompts(added).every((prompt) => prompt.logprobs && !prompt.topLogprobs)).toBe(true)
})

test('Prompt logprobs keep labels that change while the server scores', async () => {
  const key = await run()
  meanwhile = () => all.store.label(key, { title: 'Mine' })
  expect(await add(key)).toMatchObject({ title: 'Mine' })
})

describe('Prompt logprobs are refused with the reason, and nothing is stored, if', () => {
  const refused = async (key: string, code: string, request: { server?: string } = {}) => {
    const before = stored(key)
    await expect(add(key, request)).rejects.toMatchObject({ details: { code } })
    expect(stored(key)).toEqual(before)
  }

  test.each([
    ['another model', { modelName: 'n' }, 'model n; recorded: m'],
    ['other weights', { weightVersion: '2' }, 'weights 2; recorded: 1'],
  ])('the server serves %s', async (_what, change, words) => {
    const key = await run()
    described = { ...described, ...change }
    await refused(key, 'OTHER_MODEL')
    await expect(add(key)).rejects.toMatchObject({ details: { detail: expect.stringContaining(words) } })
    expect(scorings()).toEqual([])
  })

  test('the weights change while the server scores', async () => {
    const key = await run()
    meanwhile = () => {
      described = { ...described, weightVersion: '2' }
    }
    await refused(key, 'OTHER_MODEL')
  })

  test('the run continues', async () => {
    const key = await run()
    meanwhile = () => all.store.update(key, { ...stored(key), outcome: { kind: 'running' } }, 0)
    await expect(add(key)).rejects.toMatchObject({ details: { code: 'RUNNING' } })
    await refused(key, 'RUNNING')
  })

  test('the trajectory names no server, such as one that was imported', async () => {
    const { segments, ...rest } = stored(await run())
    const key = all.store.add({
      ...rest,
      id: 'elsewhere',
      segments: segments.map((segment) => (segment.kind === 'response' ? { ...segment, request: undefined } : segment)),
    } as Trajectory)
    await refused(key, 'NO_SERVER')
    expect(prompts(await add(key, { server: 'fast' })).every(({ logprobs }) => logprobs)).toBe(true)
  })

  test('the server cannot be reached', async () => {
    const key = await run()
    meanwhile = () => {
      throw new EngineError('CONNECT_REFUSED', 'nobody is there')
    }
    await expect(add(key)).rejects.toMatchObject({ code: 'CONNECT_REFUSED' })
    expect(prompts(stored(key)).map(({ logprobs }) => logprobs)).toEqual([undefined, undefined])
  })
})

/** Tests groups with a real store and real runs, and a server that answers as the test says. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { GroupStarted } from '#lib/api/group.ts'
import type { GroupLine } from '#lib/api/group-line.ts'
import type { EngineClient, ServerClient } from '#lib/engine/engine.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { testServices } from '#testing/services.ts'
import { chatml } from '#testing/small-templates.ts'
import { trajectoryForViewer } from '../exports/trajectory-for-viewer.ts'
import { HttpProblem } from '../http/problem.ts'
import { searchPattern } from '../library/search-pattern.ts'
import type { Services } from '../services.ts'
import { compareServers } from './group-servers.ts'
import { changeReward, groupNamed, groupRequestSchema, startGroup } from './groups.ts'
import { continueRollout, rolloutRequestSchema, startRollout } from './rollouts.ts'

const END = byteId('<|im_end|>')
const never = new AbortController().signal

let all: Services
let requests: GenerateRequest[]
let replies: string[]
/** Number of generations that the server accepts at once; it refuses further ones. */
let room: number
let running: number
let maxRunning: number | undefined
let mostAtOnce: number
/** Generations end after this promise has resolved. */
let held: Promise<void> | undefined
beforeEach(() => {
  requests = []
  replies = []
  room = 1000
  running = 0
  mostAtOnce = 0
  maxRunning = undefined
  held = undefined
  const generate: EngineClient['generate'] = async function* (request) {
    if (running >= room) throw new EngineError('UPSTREAM_BUSY', 'the queue is full')
    requests.push(request)
    running++
    mostAtOnce = Math.max(mostAtOnce, running)
    await new Promise((resolve) => setImmediate(resolve))
    await held
    running--
    if (request.scoreOnly) {
      const logprobs = request.inputIds.map((_, index) => (index === 0 ? null : -index))
      const end = { finish: { kind: 'length' }, usage: { cachedTokens: 0 } } as const
      yield { prompt: { logprobs, problems: [] }, tokens: { ids: [] }, problems: [], end }
      return
    }
    const end = { finish: { kind: 'stop', matched: END }, usage: { cachedTokens: request.inputIds.length } } as const
    yield { tokens: { ids: [...byteTokenizer.encode(replies.shift() ?? 'yes'), END] }, problems: [], end }
  }
  all = testServices(folderOfTest(), {
    generate,
    load: async () => ({ state: 'reported', running: 0, ...(maxRunning !== undefined && { maxRunning }) }),
    describe: async () => ({ modelName: 'm', contextLength: 4096 }),
    template: () => chatml,
  })
})
afterEach(() => all.store.close())

const stored = (key: string) => all.store.get(key) as Trajectory
const begin = (request: object = {}) =>
  startGroup(groupRequestSchema.parse({ prompt: 'q', tokenizer: 'bytes', samples: 4, ...request }), all, never)

async function ended({ groupId, samples }: GroupStarted) {
  const lines: GroupLine[] = []
  for await (const line of all.groups.follow(groupId, 0, never)) lines.push(JSON.parse(new TextDecoder().decode(line)))
  return { groupId, lines, trajectories: samples.map(({ trajectoryId }) => stored(trajectoryId)) }
}
const responsesOf = ({ segments }: Trajectory) =>
  segments.filter((segment): segment is ResponseSegment => segment.kind === 'response')

test('A group requests the first prompt and its logprobs once for all samples, which read it from the cache', async () => {
  const { groupId, trajectories } = await ended(await begin({ promptLogprobs: true }))
  expect(trajectories.map(({ group }) => group)).toEqual([0, 1, 2, 3].map((index) => ({ id: groupId, index })))
  expect(requests.filter(({ scoreOnly }) => scoreOnly)).toHaveLength(1)
  const writing = requests.filter(({ scoreOnly }) => !scoreOnly)
  expect(writing).toHaveLength(4)
  expect(writing.every((request) => !('logprobStartLen' in request))).toBe(true)
  expect(new Set(writing.map(({ inputIds }) => inputIds.join())).size).toBe(1)
  expect(new Set(writing.map(({ rid }) => rid)).size).toBe(4)
  for (const trajectory of trajectories) {
    const [response] = responsesOf(trajectory)
    expect(trajectory.segments[0]?.logprobs?.[1]).toBe(-1)
    expect(response?.request?.scoring).toMatchObject({ shared: true })
    expect(response?.usage?.cachedTokens).toBe(response?.request?.inputLength)
  }
})

test('A group scores no prompt before its runs unless the request has promptLogprobs', async () => {
  await ended(await begin())
  expect(requests.some(({ scoreOnly }) => scoreOnly)).toBe(false)
})

test('A group gives each sample its own seed, and a single run keeps the requested one', async () => {
  const { trajectories } = await ended(await begin({ sampling: { sampling_seed: 7 } }))
  const seeds = trajectories.map((trajectory) => responsesOf(trajectory)[0]?.request?.samplingParams.sampling_seed)
  expect(seeds).toEqual([7, 8, 9, 10])
})

test('A group waits for a server that is full instead of failing', async () => {
  room = 2
  const { trajectories } = await ended(await begin({ samples: 16 }))
  expect(trajectories.map(({ outcome }) => outcome)).toEqual(
    Array.from({ length: 16 }, () => ({ kind: 'ended', reason: 'end_turn' })),
  )
  expect(mostAtOnce).toBe(2)
})

test('A group sends no more requests at once than the server reports to run', async () => {
  maxRunning = 3
  await ended(await begin({ samples: 12 }))
  expect(mostAtOnce).toBe(3)
})

test('A group stores nothing if its server was removed while the run was prepared', async () => {
  const { servers, tokenizers } = all
  let isGone = false
  const gone = () => new HttpProblem({ status: 404, code: 'NO_SERVER', detail: 'gone' })
  all = {
    ...all,
    tokenizers: {
      ...tokenizers,
      load(...asked) {
        isGone = true
        return tokenizers.load(...asked)
      },
    },
    servers: {
      ...servers,
      client(name) {
        if (isGone) throw gone()
        return servers.client(name)
      },
    },
  }
  await expect(begin()).rejects.toThrow('gone')
  isGone = false
  await expect(startRollout({ prompt: 'q', tokenizer: 'bytes' }, all, never)).rejects.toThrow('gone')
  expect(all.store.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 10 }).total).toBe(0)
})

test("A request for a group or for a sample's trajectory counts as a look at its runs", async () => {
  const open = Promise.withResolvers<void>()
  held = open.promise
  const { groupId, samples } = await begin({ samples: 2 })
  const looked: string[] = []
  const noting = { ...all, runs: { ...all.runs, lookedAt: (key: string) => void looked.push(key) } }
  const keys = samples.map(({ trajectoryId }) => trajectoryId)
  groupNamed(groupId, noting)
  expect(looked).toEqual(keys)
  await trajectoryForViewer(new Request('http://h/x'), keys[1] ?? '', noting)
  expect(looked.slice(2)).toEqual([keys[1]])
  open.resolve()
  for await (const _ of all.groups.follow(groupId, 0, never));
})

test('A group rewards answers by its rule with a reason, and afterwards by a changed rule', async () => {
  replies = ['It is 434.', '433', '1,000', 'no idea']
  const reward = { kind: 'number', expected: 434 }
  const { groupId, lines } = await ended(await begin({ reward }))
  const rewards = () => groupNamed(groupId, all).samples.map((sample) => sample.reward)
  expect(rewards()).toEqual([1, 0, 0, 0])
  const rewarded = lines.flatMap(({ sample, scored }) => (scored ? [{ sample, ...scored }] : []))
  expect(rewarded.find(({ sample }) => sample === 0)).toMatchObject({ reward: 1, why: 'found 434, expected 434' })
  expect(groupNamed(groupId, all)).toMatchObject({
    reward,
    samples: [{ rewardWhy: 'found 434, expected 434' }, {}, {}, {}],
  })
  await changeReward(groupId, { kind: 'pattern', pattern: 'idea|433' }, all)
  expect(rewards()).toEqual([0, 1, 0, 1])
  const without = await changeReward(groupId, null, all)
  expect(without).toMatchObject({ reward: null, samples: [{ reward: null, rewardWhy: null }, {}, {}, {}] })
})

test('A group rewards a further turn too, and a reward by hand has no reason of a rule', async () => {
  replies = ['1', '1']
  const { groupId, trajectories } = await ended(await begin({ samples: 2, reward: { kind: 'exact', expected: '2' } }))
  const key = trajectories[0]?.id ?? ''
  replies = ['2']
  const { rolloutId } = await continueRollout(key, { prompt: 'more' }, all, never)
  for await (const _ of all.runs.follow(rolloutId, 0, never));
  expect(groupNamed(groupId, all).samples.map((sample) => sample.reward)).toEqual([1, 0])
  all.store.label(key, { reward: 0.5 })
  expect(groupNamed(groupId, all).samples[0]).toMatchObject({ reward: 0.5, rewardWhy: null })
})

test('A sample that continues loses the reward of a changed rule, and gets the reward of the current rule at its end', async () => {
  replies = ['1', '1']
  const { groupId, trajectories } = await ended(await begin({ samples: 2, reward: { kind: 'exact', expected: '1' } }))
  const rewards = () => groupNamed(groupId, all).samples.map((sample) => [sample.reward, sample.rewardWhy !== null])
  for (const [rule, first, second] of [
    [null, [null, false], [null, false]],
    [{ kind: 'exact', expected: '2' }, [1, true], [0, true]],
    [{ kind: 'exact', expected: '3' }, [0, true], [0, true]],
  ] as const) {
    replies = ['2']
    const open = Promise.withResolvers<void>()
    held = open.promise
    const { rolloutId } = await continueRollout(
      trajectories[0]?.id ?? '',
      { prompt: 'more', detached: true },
      all,
      never,
    )
    for await (const _ of all.runs.follow(rolloutId, 0, never)) break
    await changeReward(groupId, rule, all)
    expect(rewards()).toEqual([[null, false], second])
    open.resolve()
    for await (const _ of all.runs.follow(rolloutId, 0, never));
    expect(rewards()).toEqual([first, second])
  }
})

test('A reward by hand stays through every change of the rule, until it is removed by hand', async () => {
  replies = ['1', '1']
  const { groupId, trajectories } = await ended(await begin({ samples: 2 }))
  const key = trajectories[0]?.id ?? ''
  const rewards = () => groupNamed(groupId, all).samples.map(({ reward, rewardWhy }) => [reward, rewardWhy !== null])
  const rule = { kind: 'exact', expected: '1' } as const
  all.store.label(key, { reward: 0.5 })
  await changeReward(groupId, rule, all)
  expect(rewards()).toEqual([
    [0.5, false],
    [1, true],
  ])
  await changeReward(groupId, null, all)
  expect(rewards()).toEqual([
    [0.5, false],
    [null, false],
  ])
  all.store.label(key, { reward: null })
  await changeReward(groupId, rule, all)
  expect(rewards()).toEqual([
    [1, true],
    [1, true],
  ])
})

test('A reward pattern that never ends is stopped, so that others are served', async () => {
  replies = Array.from({ length: 2 }, () => `${'a'.repeat(40)}b`)
  const { groupId } = await ended(await begin({ samples: 2, reward: { kind: 'pattern', pattern: '(a+)+c' } }))
  expect(groupNamed(groupId, all).samples.map(({ reward, rewardWhy }) => [reward, rewardWhy])).toEqual(
    Array.from({ length: 2 }, () => [null, 'the pattern takes too long on this answer']),
  )
  expect(searchPattern('(b)(c)?', 'u', 'abab')).toEqual({ kind: 'found', text: 'b' })
  expect(searchPattern('x|(y)', 'iu', 'Xx')).toEqual({ kind: 'found', text: 'x' })
})

test('A group accepts a long prompt of ids, as a run does', () => {
  const request = { ids: new Array(200_000).fill(300) }
  expect(rolloutRequestSchema.parse(request).ids).toHaveLength(200_000)
  expect(groupRequestSchema.parse({ ...request, samples: 2 }).ids).toHaveLength(200_000)
})

test('A group that does not exist is a problem, and so is an invalid request for one', async () => {
  expect(() => groupNamed('nope', all)).toThrow(HttpProblem)
  await expect(changeReward('nope', null, all)).rejects.toThrow(HttpProblem)
  const valid = { prompt: 'q', samples: 2 }
  expect(groupRequestSchema.safeParse(valid).success).toBe(true)
  for (const change of [{ samples: 0 }, { samples: 65 }, { detached: false }, { messages: [] }, { reward: {} }])
    expect(groupRequestSchema.safeParse({ ...valid, ...change }).success).toBe(false)
})

/** Services whose servers `a`, `b` and `c` differ; other names do not exist. */
function withServers(
  differences: Readonly<Record<string, Partial<ServerClient> & { readonly engine?: 'vllm' | 'llama.cpp' }>>,
): void {
  const { servers } = all
  all = {
    ...all,
    servers: {
      ...servers,
      client(name) {
        const found = differences[name]
        if (!found)
          throw new HttpProblem({ status: 404, code: 'NO_SERVER', detail: `there is no server named "${name}"` })
        const { engine, ...client } = found
        const capabilities = engine && ENGINE_CAPABILITIES[engine]
        const describe = async () => ({ modelName: name, contextLength: 4096, ...(capabilities && { capabilities }) })
        return { ...servers.client('fast'), describe, ...client } as ServerClient
      },
    },
  }
}

/** Replies with these texts, each with a logprob for each byte, and fails with the last error if there is one. */
const replying = (text: string, logprob: number, error?: EngineError): EngineClient['generate'] =>
  async function* () {
    const ids = [...byteTokenizer.encode(text), END]
    yield { tokens: { ids, logprobs: ids.map(() => logprob) }, problems: [] }
    if (error) throw error
    yield {
      tokens: { ids: [] },
      problems: [],
      end: { finish: { kind: 'stop', matched: END }, usage: { cachedTokens: 0 } },
    }
  }

const GREEDY = { sampling: { temperature: 0 } }

test('A group of servers runs one setup on each, and each sample has the name of its server and the seed of its place', async () => {
  const seeds: unknown[] = []
  const noting = (logprob: number): EngineClient['generate'] =>
    async function* (request, signal) {
      seeds.push(request.sampling.sampling_seed)
      yield* replying('yes', logprob)(request, signal)
    }
  withServers({ a: { generate: noting(-1) }, b: { generate: noting(-1.5) } })
  const started = await begin({ servers: ['a', 'b'], samples: 2, sampling: { temperature: 0, sampling_seed: 7 } })
  expect(started.samples.map(({ server }) => server)).toEqual(['a', 'a', 'b', 'b'])
  expect(started.refused).toBeUndefined()
  const { groupId, trajectories } = await ended(started)
  expect(trajectories.map(({ group }) => [group?.index, group?.server])).toEqual([
    [0, 'a'],
    [1, 'a'],
    [2, 'b'],
    [3, 'b'],
  ])
  expect(trajectories.map((trajectory) => responsesOf(trajectory)[0]?.request?.server)).toEqual(['a', 'a', 'b', 'b'])
  expect(seeds.toSorted()).toEqual([7, 7, 8, 8])
  expect(groupNamed(groupId, all).samples.map(({ group }) => group?.server)).toEqual(['a', 'a', 'b', 'b'])
  const compared = await compareServers(groupId, undefined, all)
  expect(compared).toMatchObject({ servers: ['a', 'b'], reference: 'a', running: 0 })
  expect(compared.comparisons.map(({ sample, reference }) => [sample.index, reference.index])).toEqual([
    [2, 0],
    [3, 1],
  ])
  expect(compared.comparisons[0]).toMatchObject({
    divergence: null,
    chance: null,
    logprobs: { spread: { tokens: 4, median: 0.5, p99: 0.5 }, kinds: ['raw'], refused: [] },
  })
  expect((await compareServers(groupId, 'b', all)).comparisons[0]?.reference.server).toBe('b')
})

test('What a server of a group cannot take is refused by name for it, and the others run', async () => {
  withServers({
    a: {},
    b: { engine: 'llama.cpp' },
    c: { describe: () => Promise.reject(new EngineError('CONNECT_REFUSED', 'nothing listens there')) },
  })
  const started = await begin({ servers: ['a', 'b', 'c'], samples: 1, sampling: { min_new_tokens: 2 } })
  expect(started.samples.map(({ server }) => server)).toEqual(['a'])
  expect(started.refused).toMatchObject([
    { server: 'b', code: 'NOT_IN_ENGINE', field: 'sampling.min_new_tokens' },
    { server: 'c', code: 'CONNECT_REFUSED' },
  ])
  const { groupId } = await ended(started)
  // A page that is loaded again shows why b and c ran nothing.
  expect(groupNamed(groupId, all).refused).toEqual(started.refused)
  const alone = await compareServers(groupId, undefined, all)
  expect([alone.servers, alone.comparisons]).toEqual([['a'], []])
})

test('A group that every server refuses starts nothing, and the error names each server unless all have the same reason', async () => {
  withServers({
    a: { engine: 'llama.cpp' },
    b: { describe: () => Promise.reject(new EngineError('CONNECT_REFUSED', 'nothing listens there')) },
    c: { engine: 'llama.cpp' },
  })
  const unsupported = { sampling: { min_new_tokens: 2 } }
  const refused = begin({ servers: ['a', 'b'], samples: 1, ...unsupported })
  await expect(refused).rejects.toMatchObject({ details: { code: 'NO_SERVER_RUNS', field: 'servers' } })
  await expect(refused).rejects.toThrow(/^a: llama\.cpp .*; b: /)
  await expect(begin({ servers: ['a', 'c'], samples: 1, ...unsupported })).rejects.toMatchObject({
    details: { code: 'NOT_IN_ENGINE', field: 'sampling.min_new_tokens' },
  })
  expect(all.store.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 10 }).total).toBe(0)
})

test('A server that does not exist refuses the whole group, and so does one that is named twice or beside `server`', async () => {
  withServers({ a: {} })
  await expect(begin({ servers: ['a', 'typo'], samples: 1 })).rejects.toThrow('no server named "typo"')
  const valid = { prompt: 'q', servers: ['a', 'b'] }
  expect(groupRequestSchema.safeParse(valid).success).toBe(true)
  const twice = groupRequestSchema.safeParse({ ...valid, servers: ['a', 'b', 'a'] })
  expect(twice.error?.issues).toMatchObject([{ message: 'each server once: "a" is there twice', path: ['servers', 2] }])
  for (const change of [{ server: 'a' }, { servers: [] }, { samples: 33 }, { servers: 'a' }])
    expect(groupRequestSchema.safeParse({ ...valid, ...change }).success).toBe(false)
  expect(groupRequestSchema.safeParse({ ...valid, samples: 32 }).success).toBe(true)
})

test('A server that dies during its run loses only its own sample, which keeps its tokens and the name of the failure', async () => {
  const dies = new EngineError('CONNECTION_RESET', 'the connection broke off')
  withServers({ a: { generate: replying('yes', -1) }, b: { generate: replying('ye', -1, dies) } })
  const { groupId, trajectories } = await ended(await begin({ servers: ['a', 'b'], samples: 1, ...GREEDY }))
  expect(trajectories.map(({ outcome }) => outcome)).toMatchObject([
    { kind: 'ended' },
    { kind: 'failed', code: 'CONNECTION_RESET' },
  ])
  const { comparisons } = await compareServers(groupId, undefined, all)
  expect(comparisons[0]).toMatchObject({
    sample: { server: 'b', outcome: 'CONNECTION_RESET' },
    divergence: { kind: 'response' },
    logprobs: { spread: { tokens: 2, max: 0 } },
  })
})

test('Cancelling a group of servers stops the samples of all servers', async () => {
  const stopped: string[] = []
  const endless = (name: string): EngineClient['generate'] =>
    async function* (_, signal) {
      yield { tokens: { ids: byteTokenizer.encode('a') }, problems: [] }
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          stopped.push(name)
          reject(signal.reason)
        }),
      )
    }
  withServers({ a: { generate: endless('a') }, b: { generate: endless('b') } })
  const { groupId } = await begin({ servers: ['a', 'b'], samples: 1 })
  for await (const line of all.groups.follow(groupId, 0, never))
    if (new TextDecoder().decode(line).includes('"type":"tokens"')) break
  await expect.poll(() => all.store.groupRows(groupId).length).toBe(2)
  await all.groups.cancel(groupId)
  expect(stopped.toSorted()).toEqual(['a', 'b'])
  expect(groupNamed(groupId, all).samples.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled'])
})

test('Servers of a group are compared only if it has several, and by a name that it has', async () => {
  const { groupId } = await ended(await begin({ samples: 2 }))
  await expect(compareServers(groupId, undefined, all)).rejects.toMatchObject({ details: { code: 'ONE_SERVER' } })
  withServers({ a: {}, b: {} })
  const { groupId: both } = await ended(await begin({ servers: ['a', 'b'], samples: 1 }))
  await expect(compareServers(both, 'c', all)).rejects.toMatchObject({ details: { code: 'NO_SERVER' } })
  await expect(compareServers('nope', undefined, all)).rejects.toMatchObject({ details: { code: 'NO_GROUP' } })
})

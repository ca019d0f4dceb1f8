/** Value estimates with a real store and a server that answers as the test says. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MOST_VALUE_TOKENS, type ValueDryRun, type ValueEstimate } from '#lib/api/forest/value.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { estimateGroupId } from '#lib/store/estimates.ts'
import { FORMAT, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { testServices } from '#testing/services.ts'
import { chatml } from '#testing/small-templates.ts'
import { startBranches } from '../branches/branches.ts'
import { HttpProblem } from '../http/problem.ts'
import { removeTrajectory, restoreTrajectory } from '../library/library.ts'
import { startRollout } from '../runs/rollouts.ts'
import type { Services } from '../services.ts'
import { SAMPLES_AT_ONCE } from './sample-missing.ts'
import {
  cancelEstimate,
  cancelSamples,
  continueAbandoned,
  estimateNamed,
  estimatesOf,
  resumeEstimate,
  startValue,
  type ValueRequest,
  valueRequestSchema,
} from './values.ts'

const END = byteId('<|im_end|>')
/** The token that the server finds least likely: “c”. */
const SURPRISING = 99
const never = new AbortController().signal

let folder: string
let all: Services
/** Returns the continuation of a prompt: what the server answers. */
let answer: (prompt: string) => string | Promise<string>
let active: number
let mostActive: number
let sent: Readonly<Record<string, unknown>>[]
beforeEach(() => {
  folder = folderOfTest()
  answer = () => 'abcdef'
  active = 0
  mostActive = 0
  sent = []
  all = servicesOf(folder)
})
afterEach(async () => {
  await all.estimates.suspendAll()
  await all.runs.cancelAll()
  all.store.close()
})

function servicesOf(folder: string): Services {
  const generate: EngineClient['generate'] = async function* ({ inputIds, sampling }, signal) {
    sent.push(sampling)
    active++
    mostActive = Math.max(mostActive, active)
    try {
      const prompt = String.fromCharCode(...inputIds.filter((id) => id < 256))
      const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      aborted.catch(() => {})
      const reply = byteTokenizer.encode(await Promise.race([answer(prompt), aborted]))
      const continuation = [...reply, END].slice(0, sampling.max_new_tokens)
      const finish =
        continuation.at(-1) === END ? ({ kind: 'stop', matched: END } as const) : ({ kind: 'length' } as const)
      const logprobs = continuation.map((id) => (id === SURPRISING ? -5 : -1))
      yield { tokens: { ids: continuation, logprobs }, problems: [], end: { finish, usage: {} } }
    } finally {
      active--
    }
  }
  return testServices(folder, { generate, describe: async () => ({ contextLength: 4096 }), template: () => chatml })
}

const reward = { kind: 'exact', expected: 'abcdef' } as const

async function ended(sampling: object = { temperature: 1 }): Promise<{ readonly key: string; readonly first: number }> {
  const { rolloutId, key } = await startRollout({ prompt: 'q', sampling, detached: true }, all, never)
  for await (const _ of all.runs.follow(rolloutId, 0, never));
  return { key, first: segmentStarts(all.store.get(key) as Trajectory)[1] ?? 0 }
}

async function start(key: string, request: ValueRequest): Promise<ValueEstimate> {
  const started = await startValue(key, request, all, never)
  if (!('id' in started)) throw new Error('the estimate is not started')
  return started
}

async function settled(id: string, services = all): Promise<ValueEstimate> {
  await expect.poll(() => services.estimates.isRunning(id), { timeout: 10_000 }).toBe(false)
  return estimateNamed(id, services)
}

/** Everything that the model wrote before the position. */
const written = (prompt: string): string => prompt.slice(prompt.lastIndexOf('assistant\n') + 'assistant\n'.length)

describe('A value estimate', () => {
  test('finds the token after which the reward is lost', async () => {
    const { key, first } = await ended()
    // Only the tokens before “c” can still become the expected answer.
    answer = (prompt) => (written(prompt).includes('c') ? 'x' : 'abcdef'.slice(written(prompt).length))
    const started = await start(key, { range: { tokens: [0, 1, 2, 3, 4].map((at) => first + at) }, n: 8, reward })
    expect(started).toMatchObject({ state: 'running', reading: 'incomplete', cliff: null, n: 8 })
    expect(started.cost).toEqual({
      positions: [0, 1, 2, 3, 4].map((at) => first + at),
      resamples: 40,
      tokens: 8 * (7 + 6 + 5 + 4 + 3),
    })
    const estimate = await settled(started.id)
    expect(estimate).toMatchObject({ state: 'done', reading: 'cliff', failure: null })
    expect(estimate.cliff).toMatchObject({ from: first + 2, to: first + 3, before: 1, after: 0, test: 'fisher' })
    expect(estimate.progress).toEqual({ ended: 40, resamples: 40, sampledTokens: 8 * (7 + 6 + 5 + 2 + 2) })
    expect(estimate.points.map(({ value }) => value?.mean)).toEqual([1, 1, 1, 0, 0])
    expect(estimate.points[3]).toMatchObject({
      rewarded: 8,
      failed: 0,
      truncated: 0,
      spread: {
        answers: [{ text: 'abcx', count: 8, reward: 0 }],
        distinctAnswers: 1,
        sampledTokens: { min: 2, mean: 2, max: 2 },
        toolCalls: { mean: 0, withCalls: 0, failed: 0 },
      },
    })
    expect(mostActive).toBeLessThanOrEqual(SAMPLES_AT_ONCE)
  })

  test('samples ordinary branches in one group for each position, and the trajectory does not change', async () => {
    const { key, first } = await ended({ temperature: 1, sampling_seed: 7, max_new_tokens: 6 })
    const original = all.store.get(key)
    const { id } = await start(key, { range: { surprising: 2 }, n: 2, reward })
    const { points } = await settled(id)
    // “c” has the lowest logprob; of the others the first one counts.
    expect(points.map(({ at }) => at)).toEqual([first, first + 2])
    expect(all.store.groupRows(estimateGroupId(id, 1)).map((row) => row.key)).toEqual(points[1]?.keys)
    const sample = all.store.get(points[1]?.keys[0] ?? '')
    expect(sample).toMatchObject({
      forkedFrom: { trajectory: original?.id, token: first + 2, kind: 'sampled_again' },
      group: { id: estimateGroupId(id, 1), index: 0 },
      outcome: { kind: 'ended', reason: 'length' },
    })
    expect(all.store.get(key)).toEqual(original)
    // No sample has the seed of the trajectory or of another sample.
    expect(sent.map(({ sampling_seed: seed }) => seed)).toEqual([7, 8, 9, 10, 11])
    // Two tokens are kept, and max_new_tokens counts them.
    expect(sent.map(({ max_new_tokens: most }) => most)).toEqual([6, 6, 6, 4, 4])
    expect(points[1]?.truncated).toBe(2)
  })

  test('uses the reward rule of the group, and then of the latest estimate', async () => {
    const { key, first } = await ended()
    const original = all.store.get(key) as Trajectory
    const inGroup = all.store.add({ ...original, id: 'sample', group: { id: 'g', index: 0 } })
    all.store.setGroupRule('g', { kind: 'pattern', pattern: 'f' })
    expect(estimatesOf(key, all)).toEqual({ estimates: [], inherited: [], reward: null })
    expect(estimatesOf(inGroup, all).reward).toEqual({ kind: 'pattern', pattern: 'f' })
    const { id } = await start(inGroup, { at: first, n: 2, server: all.servers.defaultName })
    expect((await estimateNamed(id, all)).server).toBe(all.servers.defaultName)
    expect(await settled(id)).toMatchObject({ reading: 'single', reward: { kind: 'pattern', pattern: 'f' } })
    await settled((await start(key, { at: first, n: 2, reward })).id)
    expect(estimatesOf(key, all)).toMatchObject({
      estimates: [{ state: 'done', n: 2, positions: 1, range: { tokens: [first] } }],
      reward,
    })
    // A request without a rule has the one that the list announces.
    expect(await startValue(key, { at: first, dryRun: true }, all, never)).toMatchObject({ reward })
    const repeated = await start(key, { at: first, n: 2 })
    expect(await settled(repeated.id)).toMatchObject({ reward })
  })

  test('is listed for the branches of its trajectory, with the positions in the tokens that they share', async () => {
    const { key, first } = await ended()
    const branch = async (from: string, at: number): Promise<string> => {
      const { keys, rollouts } = await startBranches(from, { at }, all, never)
      for (const rollout of rollouts) for await (const _ of all.runs.follow(rollout, 0, never));
      return keys[0] ?? ''
    }
    const inheritedOf = (of: string) => estimatesOf(of, all).inherited
    const [early, late] = [await branch(key, first), await branch(key, first + 2)]
    answer = () => new Promise<string>(() => {})
    const { id } = await start(key, { range: { tokens: [first + 1, first + 2, first + 5] }, n: 2, reward })
    expect(inheritedOf(late)).toEqual([])
    await cancelEstimate(id, all)
    expect(inheritedOf(late)).toEqual([])
    answer = () => 'abcdef'
    await resumeEstimate(id, all)
    await settled(id)
    expect(inheritedOf(key)).toEqual([])
    expect(inheritedOf(early)).toEqual([])
    // The value before token first + 2 is that of the tokens that both have.
    expect(inheritedOf(late)).toMatchObject([
      {
        id,
        key,
        state: 'done',
        n: 2,
        fork: null,
        shared: first + 2,
        positions: 2,
        range: { tokens: expect.any(Array) },
      },
    ])
    const own = await start(late, { at: first + 1, n: 2, reward })
    await settled(own.id)
    const twig = await branch(late, first + 4)
    expect(inheritedOf(twig)).toMatchObject([
      { id: own.id, key: late, fork: first + 2, shared: first + 4, positions: 1 },
      { id, key, fork: null, shared: first + 2, positions: 2 },
    ])
    // A branch that ends at a position has no token there.
    const { keys: cut } = await startBranches(key, { at: first + 2, n: 0 }, all, never)
    expect(inheritedOf(cut[0] ?? '')).toMatchObject([{ id, positions: 1 }])
    // A branch without a rule of its own has that of its trajectory.
    expect(estimatesOf(early, all).reward).toEqual(reward)
  })

  test('with dryRun answers the cost and stores nothing', async () => {
    const { key, first } = await ended()
    const dry = (request: object) =>
      startValue(key, { range: { every: 3 }, dryRun: true, ...request }, all, never) as Promise<ValueDryRun>
    expect(await dry({})).toEqual({
      cost: { positions: [first, first + 3, first + 6], resamples: 24, tokens: 8 * (7 + 4 + 1) },
      reward: null,
    })
    expect((await dry({ reward, n: 2, sampling: { max_new_tokens: 3 } })).cost.tokens).toBe(2 * (3 + 3 + 1))
    expect(estimatesOf(key, all).estimates).toEqual([])
  })

  test('keeps the ended samples when it is cancelled, and samples the others when it is resumed', async () => {
    const { key, first } = await ended()
    const hang = new Promise<string>(() => {})
    answer = (prompt) => (written(prompt).length === 0 ? 'abcdef' : hang)
    const { id } = await start(key, { range: { tokens: [first, first + 2] }, n: 8, reward })
    await expect.poll(async () => (await estimateNamed(id, all)).progress.ended).toBe(8)
    const cancelled = await cancelEstimate(id, all)
    expect(cancelled).toMatchObject({ state: 'cancelled', reading: 'incomplete', progress: { ended: 8 } })
    expect(active).toBe(0)
    answer = (prompt) => 'abcdef'.slice(written(prompt).length)
    const kept = cancelled.points[0]?.keys
    expect(await resumeEstimate(id, all)).toMatchObject({ state: 'running' })
    const done = await settled(id)
    expect(done).toMatchObject({ state: 'done', reading: 'exploratory', progress: { ended: 16 } })
    expect(done.points[0]?.keys).toEqual(kept)
    expect(await cancelEstimate(id, all)).toMatchObject({ state: 'done' })
    // Samples that were stopped are replaced: the group has only those that have ended.
    const outcomes = [0, 1].map((position) =>
      all.store.groupRows(estimateGroupId(id, position)).map((row) => row.outcome),
    )
    expect(outcomes).toEqual([Array(8).fill('end_turn'), Array(8).fill('end_turn')])
  })

  test('says that nothing is left to sample when it is resumed after its end', async () => {
    const { key, first } = await ended()
    const { id } = await start(key, { at: first, n: 2, reward })
    await settled(id)
    await expect(resumeEstimate(id, all)).rejects.toMatchObject({
      details: {
        status: 409,
        code: 'COMPLETE',
        detail: 'nothing is left to sample: all 2 samples of the estimate have ended',
      },
    })
    expect(await estimateNamed(id, all)).toMatchObject({ state: 'done' })
  })

  test('is cancelled after its trajectory was deleted, and resumed when that is restored', async () => {
    const { key, first } = await ended()
    answer = () => new Promise<string>(() => {})
    const { id } = await start(key, { at: first + 1, n: 2, reward })
    await expect.poll(() => active).toBe(2)
    all.store.remove(key)
    expect(await cancelEstimate(id, all)).toMatchObject({ state: 'cancelled', key, points: [{ at: first + 1 }] })
    expect(active).toBe(0)
    // It has ended, so it is cancelled again without effect.
    expect(await cancelEstimate(id, all)).toMatchObject({ state: 'cancelled' })
    all.store.restore(key)
    answer = (prompt) => 'abcdef'.slice(written(prompt).length)
    await resumeEstimate(id, all)
    expect(await settled(id)).toMatchObject({ state: 'done', progress: { ended: 2, sampledTokens: 2 * 6 } })
  })

  test('is stopped when its trajectory is deleted', async () => {
    const { key, first } = await ended()
    answer = () => new Promise<string>(() => {})
    const { id } = await start(key, { at: first, n: 2, reward })
    await expect.poll(() => active).toBe(2)
    removeTrajectory(key, all)
    await expect.poll(() => all.store.estimate(id)?.state).toBe('cancelled')
    expect(active).toBe(0)
    restoreTrajectory(key, all)
    expect(estimatesOf(key, all)).toMatchObject({ estimates: [{ id, state: 'cancelled' }] })
  })

  test('is stopped with any of its groups, and samples again when it is resumed at once', async () => {
    const { key, first } = await ended()
    answer = () => new Promise<string>(() => {})
    const { id } = await start(key, { at: first, n: 4, reward })
    await expect.poll(() => active).toBe(4)
    const cancelled = cancelSamples(estimateGroupId(id, 0), all)
    answer = () => 'abcdef'
    await resumeEstimate(id, all)
    await cancelled
    expect(await settled(id)).toMatchObject({ state: 'done', progress: { ended: 4 } })
    await expect(cancelSamples(estimateGroupId(id, 0), all)).rejects.toMatchObject({ details: { code: 'NO_GROUP' } })
  })

  test('ends as failed if its samples fail one after the other, and a resumed one samples them again', async () => {
    const { key, first } = await ended()
    answer = () => {
      throw new EngineError('UPSTREAM_ERROR', 'nothing listens there')
    }
    const { id } = await start(key, { at: first, n: 8, reward })
    const failed = await settled(id)
    expect(failed).toMatchObject({ state: 'failed', failure: { code: 'UPSTREAM_ERROR' } })
    expect(failed.points[0]?.failed).toBeGreaterThanOrEqual(3)
    answer = () => 'abcdef'
    await resumeEstimate(id, all)
    expect(await settled(id)).toMatchObject({ state: 'done', failure: null, points: [{ rewarded: 8, failed: 0 }] })
  })

  test('continues after failures with ended samples between them', async () => {
    const { key, first } = await ended()
    const endedSamples = async () => {
      const { progress, points } = await estimateNamed(estimatesOf(key, all).estimates[0]?.id ?? '', all)
      return progress.ended + (points[0]?.failed ?? 0)
    }
    let calls = 0
    // Each call waits for the end of the sample before it, so that failures and answers alternate.
    answer = async () => {
      const index = calls++
      await expect.poll(endedSamples, { timeout: 10_000 }).toBe(index)
      if (index % 2 === 0) throw new EngineError('UPSTREAM_ERROR', 'nothing listens there')
      return 'abcdef'
    }
    const { id } = await start(key, { at: first, n: 8, reward })
    expect(await settled(id)).toMatchObject({ state: 'done', points: [{ rewarded: 4, failed: 4 }] })
  })

  test('is continued by the next instance of the application, which samples only what is missing', async () => {
    const { key, first } = await ended()
    const hang = new Promise<string>(() => {})
    answer = (prompt) => (written(prompt).length === 0 ? 'abcdef' : hang)
    const { id } = await start(key, { range: { tokens: [first, first + 2] }, n: 4, reward })
    await expect.poll(async () => (await estimateNamed(id, all)).progress.ended).toBe(4)
    const kept = (await estimateNamed(id, all)).points[0]?.keys
    await all.estimates.suspendAll()
    all.store.close()
    answer = (prompt) => 'abcdef'.slice(written(prompt).length)
    sent = []
    all = servicesOf(folder)
    continueAbandoned(all)
    const done = await settled(id)
    expect(done).toMatchObject({ state: 'done', progress: { ended: 8 } })
    expect(done.points[0]?.keys).toEqual(kept)
    expect(sent).toHaveLength(4)
  })
})

test('The report counts only what the samples did after the position, and reads the trajectory again when it has changed', async () => {
  const { key, first } = await ended()
  const original = all.store.get(key) as Trajectory
  const [prompt, response] = original.segments
  if (!prompt || response?.kind !== 'response') throw new Error('the run has a response')
  const place = { raw: 'ab', text: { start: 0, end: 2 } }
  const malformed = {
    ...place,
    id: 'a',
    kind: 'malformed',
    why: 'odd',
    at: 0,
    span: { start: 0, end: 2 },
  } as const
  const failed = {
    ...place,
    id: 'b',
    kind: 'parsed',
    name: 'calculator',
    input: {},
    arguments: [],
    span: { start: 2, end: 4 },
    result: { status: 'error', text: 'no expression' },
  } as const
  const called = { ...original, segments: [prompt, { ...response, toolCalls: [malformed, failed] }] }
  const parent = all.store.add({ ...called, id: 'called' })
  const plan = { range: { tokens: [first + 2] }, n: 2, reward, positions: [first + 2], tokens: 10, settings: {} }
  all.store.addEstimate({ id: 'e', key: parent, createdAt: original.createdAt, plan: JSON.stringify(plan) })
  for (const index of [0, 1])
    all.store.add({ ...called, id: `s${index}`, group: { id: estimateGroupId('e', 0), index } })
  all.store.endEstimate('e', 'done')
  const spread = async () => (await estimateNamed('e', all)).points[0]?.spread
  const read = vi.spyOn(all.store, 'getWithDeleted')
  expect(await spread()).toMatchObject({
    sampledTokens: { min: 5, mean: 5, max: 5 },
    toolCalls: { mean: 1, withCalls: 2, failed: 2 },
  })
  expect(read).toHaveBeenCalledWith(parent)
  read.mockClear()
  await spread()
  expect(read).not.toHaveBeenCalled()
  // Without trained tokens before the position, all trained tokens of a sample count.
  const mask = response.ids.map((_, index) => (index < 2 ? 0 : 1))
  const untrained = { ...response, mask, toolCalls: [] }
  all.store.update(parent, { ...original, id: 'called', segments: [prompt, untrained] }, 0)
  expect(await spread()).toMatchObject({ sampledTokens: { mean: 7 }, toolCalls: { mean: 2, failed: 4 } })
})

/** Runs an estimate until the first position has all samples and the second one none, and then waits to be killed. */
const KILLED_PROCESS = `
  import { testServices } from '#testing/services.ts'
  import { chatml } from '#testing/small-templates.ts'
  import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
  import { startRollout } from '#lib/server/runs/rollouts.ts'
  import { startValue, estimateNamed } from '#lib/server/values/values.ts'
  const signal = new AbortController().signal
  const generate = async function* ({ inputIds }) {
    const isInside = inputIds.includes(98)
    if (isInside) await new Promise(() => setInterval(() => {}, 1000))
    const ids = [...byteTokenizer.encode('abcdef'), byteId('<|im_end|>')]
    yield { tokens: { ids, logprobs: ids.map(() => -1) }, problems: [], end: { finish: { kind: 'stop', matched: ids.at(-1) }, usage: {} } }
  }
  const all = testServices(process.argv[1], { generate, describe: async () => ({ contextLength: 4096 }), template: () => chatml })
  const { rolloutId, key } = await startRollout({ prompt: 'q', sampling: { temperature: 1 }, detached: true }, all, signal)
  for await (const _ of all.runs.follow(rolloutId, 0, signal));
  const first = all.store.get(key).segments[0].ids.length
  const reward = { kind: 'exact', expected: 'abcdef' }
  const { id } = await startValue(key, { range: { tokens: [first, first + 2] }, n: 4, reward }, all, signal)
  while ((await estimateNamed(id, all)).progress.ended < 4) await new Promise((resolve) => setTimeout(resolve, 10))
  console.log(id)
`

test('An estimate whose process is killed keeps its samples, and another process samples what is missing', async () => {
  const data = folderOfTest()
  const killed = spawn(process.execPath, ['--input-type=module', '-e', KILLED_PROCESS, data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(killed.stdout, 'data')
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  answer = (prompt) => 'abcdef'.slice(written(prompt).length)
  const next = servicesOf(data)
  try {
    const id = String(line).trim()
    const [abandoned] = next.store.abandonedEstimates()
    expect(abandoned).toMatchObject({ id, state: 'running' })
    const kept = next.store.groupRows(estimateGroupId(id, 0)).map(({ key }) => key)
    expect(kept).toHaveLength(4)
    expect(next.store.groupRows(estimateGroupId(id, 1)).map(({ outcome }) => outcome)).toEqual(
      Array(4).fill('interrupted'),
    )
    continueAbandoned(next)
    const done = await settled(id, next)
    expect(done).toMatchObject({ state: 'done', progress: { ended: 8 }, points: [{ keys: kept }, { rewarded: 4 }] })
    expect(sent).toHaveLength(4)
  } finally {
    next.store.close()
  }
})

describe('A value estimate is refused', () => {
  async function refusal(key: string, request: ValueRequest) {
    const error = await startValue(key, request, all, never).catch((reason: unknown) => reason)
    if (!(error instanceof HttpProblem)) throw new Error(`no refusal but ${error}`)
    return error.details
  }

  test('for a position outside or in a prompt, without a reward rule, and for greedy sampling', async () => {
    const { key, first } = await ended()
    expect(await refusal(key, { at: 10_000, reward })).toMatchObject({ status: 422, code: 'OUTSIDE', field: 'at' })
    expect(await refusal(key, { at: 0, reward })).toMatchObject({
      code: 'NOT_SAMPLED',
      hint: `Choose a sampled token: the next one is ${first}.`,
    })
    expect(await refusal(key, { range: { tokens: [first, 0] }, reward })).toMatchObject({ field: 'range' })
    expect(await refusal(key, { at: first })).toMatchObject({ code: 'NO_REWARD_RULE', field: 'reward' })
    const greedy = { at: first, reward, sampling: { temperature: 0 } }
    expect(await refusal(key, greedy)).toMatchObject({ code: 'GREEDY', field: 'sampling' })
    expect(await refusal(key, { ...greedy, sampling: { top_k: 1 } })).toMatchObject({ code: 'GREEDY' })
    expect(await refusal((await ended({ temperature: 0 })).key, { at: first, reward })).toMatchObject({
      code: 'GREEDY',
    })
  })

  test('for too many expected tokens', async () => {
    const { key, first } = await ended()
    const original = all.store.get(key) as Trajectory
    const ids = Array<number>(MOST_VALUE_TOKENS / 64 / 2 + 2).fill(97)
    const segments = [...original.segments.slice(0, 1), { kind: 'response', ids, thinks: [], toolCalls: [] } as const]
    const long = all.store.add({ ...original, id: 'long', segments })
    const request = { range: { tokens: [first, first + 1] }, n: 64, reward }
    expect(await refusal(long, request)).toMatchObject({ status: 422, code: 'TOO_MANY_TOKENS', field: 'range' })
    expect(await refusal(long, { ...request, n: 2, dryRun: true }).catch(() => 'no refusal')).toBe('no refusal')
  })

  test('for a trajectory that is running, does not exist, or has another tokenizer', async () => {
    const { key, first } = await ended()
    const original = all.store.get(key) as Trajectory
    answer = () => new Promise<string>(() => {})
    const { key: running, rolloutId } = await startRollout({ prompt: 'q', detached: true }, all, never)
    for await (const line of all.runs.follow(rolloutId, 0, never)) if (line.length > 0) break
    expect(await refusal(running, { at: 0, reward })).toMatchObject({ status: 409, code: 'RUNNING' })
    expect(await refusal('absent', { at: 0, reward })).toMatchObject({ status: 404, code: 'NO_TRAJECTORY' })
    const tokenizer = { name: 'bytes', specialIds: [], fingerprint: 'another' }
    const other = all.store.add({ ...original, id: 'other', model: { ...original.model, tokenizer } })
    expect(await refusal(other, { at: first, reward })).toMatchObject({ code: 'OTHER_TOKENIZER' })
    const bare = all.store.add({
      ...original,
      id: 'bare',
      format: FORMAT,
      provenance: { kind: 'rollout', application: 'test', endpoint: 'chat' },
    })
    expect(await refusal(bare, { at: first, reward })).toMatchObject({ code: 'OVER_CHAT' })
  })

  test('if it does not exist, or its trajectory is deleted', async () => {
    await expect(estimateNamed('absent', all)).rejects.toMatchObject({ details: { status: 404, code: 'NO_ESTIMATE' } })
    const { key, first } = await ended()
    const { id } = await start(key, { at: first, n: 2, reward })
    await settled(id)
    all.store.remove(key)
    for (const call of [estimateNamed, resumeEstimate])
      await expect(call(id, all)).rejects.toMatchObject({
        details: { status: 404, code: 'DELETED', detail: expect.stringContaining(key) },
      })
  })

  test.each<[object, RegExp]>([
    [{ n: 8 }, /exactly one of/],
    [{ at: 1, range: { every: 1 } }, /exactly one of/],
    [{ at: 1, n: 1 }, /n/],
    [{ at: 1, n: 65 }, /n/],
    [{ range: { every: 0 } }, /range/],
    [{ range: { surprising: 65 } }, /range/],
    [{ range: { tokens: [] } }, /range/],
    [{ at: 1, reward: { kind: 'best' } }, /reward/],
    [{ at: 1, detached: true }, /detached/],
  ])('if the body is %j', (body, why) => {
    expect(JSON.stringify(valueRequestSchema.safeParse(body).error?.issues)).toMatch(why)
  })
})

/** Refusals and trees of branches, with a real store and a server that answers as the test says. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MOST_LEAVES } from '#lib/api/forest/tree.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { estimateGroupId } from '#lib/store/estimates.ts'
import { StoreError } from '#lib/store/store-error.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { FORMAT, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { segmentStarts, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { testServices } from '#testing/services.ts'
import { chatml } from '#testing/small-templates.ts'
import { exportPreview } from '../exports/export.ts'
import { exportTrajectory } from '../exports/export-trajectory.ts'
import { HttpProblem } from '../http/problem.ts'
import { startRollout } from '../runs/rollouts.ts'
import type { Services } from '../services.ts'
import { type BranchRequest, branchRequestSchema, startBranches } from './branches.ts'
import { treeOf } from './tree.ts'

const END = byteId('<|im_end|>')
const never = new AbortController().signal

let folder: string
let all: Services
let reply: string
let proceed: PromiseWithResolvers<void> | undefined
let limits: (number | undefined)[]
beforeEach(() => {
  folder = folderOfTest()
  reply = 'yes'
  proceed = undefined
  limits = []
  const generate: EngineClient['generate'] = async function* ({ sampling }) {
    limits.push(sampling.max_new_tokens)
    await proceed?.promise
    const ids = [...byteTokenizer.encode(reply), END].slice(0, sampling.max_new_tokens)
    const topLogprobs = { k: 1, ids: ids.map(() => 65), logprobs: ids.map(() => -1) }
    const finish = ids.at(-1) === END ? ({ kind: 'stop', matched: END } as const) : ({ kind: 'length' } as const)
    yield { tokens: { ids, logprobs: ids.map(() => -1), topLogprobs }, problems: [], end: { finish, usage: {} } }
  }
  all = testServices(folder, { generate, describe: async () => ({ contextLength: 4096 }), template: () => chatml })
})
afterEach(async () => {
  proceed?.resolve()
  await all.runs.cancelAll()
  all.store.close()
})

const stored = (key: string) => all.store.get(key) as Trajectory

async function asked(sampling: object = { max_new_tokens: 8 }): Promise<Trajectory> {
  const { rolloutId, key } = await startRollout({ prompt: 'q', sampling, detached: true }, all, never)
  for await (const _ of all.runs.follow(rolloutId, 0, never));
  return stored(key)
}

async function branched(key: string, request: BranchRequest): Promise<readonly Trajectory[]> {
  const { keys, rollouts } = await startBranches(key, request, all, never)
  for (const rollout of rollouts) for await (const _ of all.runs.follow(rollout, 0, never));
  return keys.map(stored)
}

const firstSampled = (trajectory: Trajectory) => segmentStarts(trajectory)[1] ?? 0
const text = ({ segments }: Trajectory) => String.fromCharCode(...(segments[1]?.ids ?? []).filter((id) => id < 256))

async function refusal(key: string, request: BranchRequest) {
  const error = await startBranches(key, request, all, never).then(
    () => undefined,
    (reason) => reason,
  )
  if (!(error instanceof HttpProblem)) throw new Error(`no refusal but ${error}`)
  const { status, code, detail, field } = error.details
  return { status, code, detail, field }
}

describe('A branch', () => {
  test('chooses an alternative, and records the fork, the hash and where the token comes from', async () => {
    const original = await asked()
    const at = firstSampled(original) + 1
    reply = '!'
    const [branch] = await branched(original.id, { at, force: { alternative: 65 } })
    expect(branch && text(branch)).toBe('yA!')
    expect(branch?.segments[1]).toMatchObject({
      mask: [1, 0, 1, 1],
      logprobs: [-1, null, -1, -1],
      forced: [{ start: 1, end: 2, as: 'alternative', instead: 101 }],
    })
    expect(branch?.forkedFrom).toMatchObject({ trajectory: original.id, token: at, kind: 'alternative' })
    expect(stored(original.id)).toEqual(original)
  })

  test('with n 0 samples nothing: it ends at the position, or after the inserted tokens', async () => {
    const original = await asked()
    const at = firstSampled(original) + 2
    limits = []
    const [cut] = await branched(original.id, { at, n: 0 })
    const [begun] = await branched(original.id, { at: firstSampled(original), n: 0 })
    const [forced] = await branched(original.id, { at, n: 0, force: { text: 'o' } })
    const [ended] = await branched(original.id, { at, n: 0, force: { ids: [END] } })
    expect(limits).toEqual([])
    expect([cut, forced, ended].map((branch) => branch && text(branch))).toEqual(['ye', 'yeo', 'ye'])
    expect(begun?.segments).toHaveLength(1)
    expect([cut, begun, forced, ended].map((branch) => branch?.outcome)).toEqual([
      { kind: 'ended', reason: 'cancelled' },
      { kind: 'ended', reason: 'cancelled' },
      { kind: 'ended', reason: 'cancelled' },
      { kind: 'ended', reason: 'end_turn' },
    ])
    expect(cut?.forkedFrom?.kind).toBe('cut')
  })

  test('counts kept and inserted tokens in the max_new_tokens of the original, and only new ones in one of its own', async () => {
    const original = await asked({ max_new_tokens: 3 })
    const at = firstSampled(original)
    limits = []
    reply = 'abcdefgh'
    const outcomes: unknown[] = []
    for (const request of [
      { at: at + 1 },
      { at: at + 1, force: { text: 'x' } },
      { at: at + 2, force: { text: 'x' } },
      { at: at + 1, sampling: { max_new_tokens: 3 } },
      { at: at + 3 },
    ]) {
      const [branch] = await branched(original.id, request)
      outcomes.push(branch?.outcome)
    }
    // The third has no token left, so nothing is sampled. The last one continues the response that had reached its limit.
    expect(limits).toEqual([2, 1, 3, 3])
    expect(outcomes).toEqual(Array(5).fill({ kind: 'ended', reason: 'length' }))
  })

  test('is scored by the rule of the group that it comes from, also alone, without a call, and from another branch', async () => {
    const rule = { kind: 'exact', expected: 'yes' } as const
    const original = await asked()
    const at = firstSampled(original) + 2
    const sample = all.store.add({ ...original, id: 'sample', group: { id: 'g', index: 0 } })
    all.store.setGroupRule('g', rule)
    const rewardsOf = (branches: readonly Trajectory[]) => branches.map(({ id }) => all.store.row(id)?.reward)
    reply = 's'
    const single = await branched(sample, { at })
    expect(rewardsOf(single)).toEqual([1])
    const ended = await branched(sample, { at, n: 0, force: { ids: [END] } })
    expect(rewardsOf(ended)).toEqual([0])
    expect(rewardsOf(await branched(sample, { at, n: 0 }))).toEqual([null])
    reply = '!'
    const twigs = await branched(single[0]?.id ?? '', { at, n: 2 })
    expect(rewardsOf(twigs)).toEqual([0, 0])
    expect(rewardsOf(await branched(single[0]?.id ?? '', { at }))).toEqual([0])
    expect(all.store.groupRule(twigs[0]?.group?.id ?? '')).toEqual(rule)
    expect(rewardsOf(await branched(original.id, { at }))).toEqual([null])
  })

  test('trains inserted tokens in an export if that is chosen', async () => {
    const original = await asked()
    const at = firstSampled(original) + 1
    const [branch] = await branched(original.id, { at, force: { text: 'o' }, n: 0 })
    const maskOf = async (query: string) => {
      const request = new Request(`http://localhost/export?${query}`)
      const file = (await (await exportTrajectory(request, branch?.id ?? '', all)).json()) as { loss_mask: number[] }
      return file.loss_mask
    }
    expect([await maskOf('format=slime'), await maskOf('format=slime&forced=trained')]).toEqual([
      [1, 0],
      [1, 1],
    ])
    const preview = await exportPreview({ keys: [original.id, branch?.id ?? ''] }, all)
    expect(preview).toMatchObject({ samples: 2, forced: 1 })
  })
})

describe('A branch is refused', () => {
  test('with the field that is wrong, for a position, ids, a text or an alternative', async () => {
    const original = await asked()
    const at = firstSampled(original)
    expect(await refusal(original.id, { at: 10_000 })).toMatchObject({ status: 422, code: 'OUTSIDE', field: 'at' })
    expect(await refusal(original.id, { at: 0 })).toMatchObject({ code: 'NOT_SAMPLED', field: 'at' })
    expect(await refusal(original.id, { at, force: { ids: [99_999] } })).toMatchObject({
      code: 'OUTSIDE_VOCABULARY',
      detail: 'the id 99999 at index 0 is no token of fast',
      field: 'force',
    })
    expect(await refusal(original.id, { at, force: { text: 'a\ud800' } })).toMatchObject({
      code: 'CANNOT_ENCODE',
      detail: 'the text cannot be encoded: character 1 is half of a surrogate pair',
    })
    expect(await refusal(original.id, { at, force: { alternative: 66 } })).toMatchObject({
      code: 'NO_ALTERNATIVE',
      detail: `the id 66 is not among the recorded alternatives of token ${at}: 65`,
    })
    expect(await refusal(original.id, { at, edit: { text: 'x' } })).toMatchObject({ code: 'NO_MESSAGE', field: 'edit' })
  })

  test('for a trajectory that is running, does not exist, or was run over a chat endpoint', async () => {
    proceed = Promise.withResolvers()
    const { key, rolloutId } = await startRollout({ prompt: 'q', detached: true }, all, never)
    for await (const line of all.runs.follow(rolloutId, 0, never)) if (line.length > 0) break
    expect(await refusal(key, { at: 0 })).toMatchObject({ status: 409, code: 'RUNNING' })
    expect(await refusal('absent', { at: 0 })).toMatchObject({ status: 404, code: 'NO_TRAJECTORY' })
    const chat: Trajectory = {
      format: FORMAT,
      id: 'chat',
      createdAt: '2026-01-01T00:00:00.000Z',
      model: { tools: [] },
      vocab: {},
      segments: [],
      outcome: { kind: 'ended', reason: 'end_turn' },
      provenance: { kind: 'rollout', application: 'test', endpoint: 'chat' },
    }
    expect(await refusal(all.store.add(chat), { at: 0 })).toMatchObject({ code: 'OVER_CHAT' })
    const bare = { ...chat, id: 'bare', provenance: { kind: 'recorded' } } as const
    expect(await refusal(all.store.add(bare), { at: 0 })).toMatchObject({ code: 'NO_TOKENIZER' })
  })

  test('for a tokenizer that is not the one of the trajectory', async () => {
    const original = await asked()
    const tokenizer = { name: 'bytes', specialIds: [], fingerprint: 'another' }
    const other = all.store.add({ ...original, id: 'other', model: { ...original.model, tokenizer } })
    expect(await refusal(other, { at: firstSampled(original) })).toMatchObject({ code: 'OTHER_TOKENIZER' })
  })

  test('for a message that the template cannot render', async () => {
    const original = await asked()
    const template = {
      text: `{% if messages[0].content == 'bad' %}{{ raise_exception('no such question') }}{% endif %}${chatml}`,
      options: {},
    }
    const key = all.store.add({ ...original, id: 'strict', model: { ...original.model, template } })
    expect(await refusal(key, { at: 0, edit: { text: 'bad' } })).toMatchObject({
      code: 'TEMPLATE_ERROR',
      field: 'edit',
    })
  })

  test.each<[object, RegExp]>([
    [{ at: -1 }, /at/],
    [{ at: 1, n: 65 }, /n/],
    [{ at: 1, force: { text: '' } }, /force/],
    [{ at: 1, force: { text: 'a', ids: [1] } }, /force/],
    [{ at: 1, force: { ids: [1] }, edit: { text: 'a' } }, /only one of/],
    [{ at: 1, n: 0, edit: { text: 'a' } }, /an edited message becomes tokens when it is sent/],
    [{ at: 1, detached: true }, /detached/],
  ])('if the body is %j', (body, why) => {
    const read = branchRequestSchema.safeParse(body)
    expect(JSON.stringify(read.error?.issues)).toMatch(why)
  })
})

describe('The tree of a trajectory', () => {
  test('has its branches and theirs, with shared tokens once, whichever of them is named', async () => {
    const original = await asked()
    const at = firstSampled(original) + 1
    reply = '!'
    const [branch] = await branched(original.id, { at, force: { text: 'o' } })
    const [twig] = await branched(branch?.id ?? '', { at: at + 1, n: 0 })
    const trees = [original, branch, twig].map((trajectory) => treeOf(trajectory?.id ?? '', all))
    const [tree] = trees
    expect(trees[1]).toEqual(tree)
    expect(trees[2]).toEqual(tree)
    expect(tree?.leaves.map(({ row, fork }) => [row.key, fork])).toEqual([
      [original.id, null],
      [
        branch?.id,
        {
          from: 0,
          token: at,
          kind: 'forced',
          inserted: { text: 'o', instead: expect.any(String) },
          edited: null,
          sampled: '!',
        },
      ],
      [twig?.id, { from: 1, token: at + 1, kind: 'cut', inserted: null, edited: null, sampled: null }],
    ])
    expect(tree?.nodes.map(({ parent, start, end, leaves }) => ({ parent, start, end, leaves }))).toEqual([
      { parent: null, start: 0, end: at - 1, leaves: [] },
      { parent: 0, start: at - 1, end: at, leaves: [] },
      { parent: 1, start: at, end: tokenCount(original), leaves: [0] },
      { parent: 1, start: at, end: at + 1, leaves: [2] },
      { parent: 3, start: at + 1, end: at + 3, leaves: [1] },
    ])
    expect(tree?.counts).toMatchObject({ trees: 1, leaves: 3, splits: 2, distinctTokens: tokenCount(original) + 3 })
    all.store.remove(original.id)
    expect(treeOf(twig?.id ?? '', all).leaves.map(({ row, fork }) => [row.key, fork?.from])).toEqual([
      [branch?.id, null],
      [twig?.id, 0],
    ])
  })

  test('has a piece of each edited message, and the beginning of what the model sampled after it', async () => {
    const original = await asked()
    reply = 'long '.repeat(100)
    const sampling = { max_new_tokens: 400 }
    const texts = ['', 'quite another question', 'q and more']
    const edited: string[] = []
    for (const text of texts)
      edited.push(...(await branched(original.id, { at: 0, edit: { text }, sampling })).map(({ id }) => id))
    const [twig] = await branched(edited[1] ?? '', { at: 0, edit: { text: 'quite another query' }, sampling, n: 1 })
    const [cutWord] = await branched(edited[1] ?? '', { at: 0, edit: { text: 'quite another' }, sampling, n: 1 })
    const textsOf = () =>
      Object.fromEntries(treeOf(original.id, all).leaves.map(({ row, fork }) => [row.key, fork?.edited]))
    expect(textsOf()).toEqual({
      [original.id]: undefined,
      [edited[0] ?? '']: '',
      [edited[1] ?? '']: 'quite another question',
      [edited[2] ?? '']: 'q and more',
      [twig?.id ?? '']: '…query',
      [cutWord?.id ?? '']: '…another',
    })
    expect(treeOf(original.id, all).leaves[1]?.fork?.sampled).toBe(`${'long '.repeat(40)}…`)
    all.store.remove(edited[1] ?? '')
    const other = all.store.add({ ...stored(twig?.id ?? ''), id: 'other' })
    expect(treeOf(other, all).leaves.find(({ row }) => row.key === other)?.fork?.edited).toBe(null)
  })

  test('lists samples of value estimates after all other branches, and marks them', async () => {
    const original = await asked()
    const at = firstSampled(original) + 1
    all.store.addEstimate({ id: 'e', key: original.id, createdAt: original.createdAt, plan: '{}' })
    const forkedFrom = { trajectory: original.id, token: at, kind: 'sampled_again' } as const
    for (const index of [0, 1])
      all.store.add({ ...original, id: `s${index}`, forkedFrom, group: { id: estimateGroupId('e', 0), index } })
    const [branch] = await branched(original.id, { at, n: 0 })
    const { leaves } = treeOf(original.id, all)
    expect(leaves.map(({ row, isValueSample }) => [row.key, isValueSample])).toEqual([
      [original.id, false],
      [branch?.id, false],
      ['s0', true],
      ['s1', true],
    ])
  })

  test('has the latest branches if there are too many, and always the requested one with its origin', async () => {
    const original = await asked()
    const at = firstSampled(original) + 1
    const [first] = await branched(original.id, { at, n: 0 })
    const copies = (count: number, name: string) =>
      all.store.addAll(
        Array.from({ length: count }, (_, index) => ({ ...stored(first?.id ?? ''), id: `${name}${index}` })),
      )
    const old = copies(MOST_LEAVES, 'old')
    const latest = copies(64, 'latest')
    const keysOf = (key: string) => treeOf(key, all).leaves.map(({ row }) => row.key)
    const listed = keysOf(original.id)
    expect(listed[0]).toBe(original.id)
    expect(listed.filter((key) => latest.includes(key))).toEqual(latest)
    expect(listed.filter((key) => old.includes(key))).toEqual(old.slice(1 + 64 - MOST_LEAVES))
    expect(treeOf(original.id, all).leftOut).toBe(1 + 1 + MOST_LEAVES + 64 - MOST_LEAVES)
    expect(keysOf('old0').slice(0, 2)).toEqual([original.id, 'old0'])
  })

  test('reads only the trajectories that have changed since it was requested last', async () => {
    const original = await asked()
    const at = firstSampled(original) + 1
    await branched(original.id, { at, n: 2 })
    const read = vi.spyOn(all.store, 'get')
    const keysRead = () => read.mock.calls.splice(0).map(([key]) => key)
    const tree = treeOf(original.id, all)
    expect(keysRead()).toHaveLength(3)
    all.store.label(original.id, { title: 'Main' })
    const [main, ...others] = treeOf(original.id, all).leaves
    expect([main?.row.title, others]).toEqual(['Main', tree.leaves.slice(1)])
    expect(keysRead()).toEqual([])
    const [cut] = await branched(original.id, { at, n: 0 })
    keysRead()
    const grown = treeOf(original.id, all)
    expect(keysRead()).toEqual([cut?.id])
    expect(grown.leaves).toHaveLength(4)
    expect(grown.counts.tokens).toBe(tree.counts.tokens + at)
  })

  test('shows a branch as interrupted whose application has ended', async () => {
    const original = await asked()
    const other = openTrajectoryStore(folder, { now: () => new Date() })
    const forkedFrom = { trajectory: original.id, token: 1, kind: 'sampled_again' } as const
    const key = other.add({ ...original, id: 'fork', forkedFrom, outcome: { kind: 'running' } }, { runsHere: true })
    const outcomeOfFork = () => treeOf(original.id, all).leaves.find(({ row }) => row.key === key)?.row.outcome
    expect(outcomeOfFork()).toBe('running')
    other.close()
    expect(outcomeOfFork()).toBe('interrupted')
  })

  test('leaves out a trajectory whose record is damaged', async () => {
    const original = await asked()
    const [cut] = await branched(original.id, { at: firstSampled(original) + 1, n: 0 })
    const get = all.store.get
    vi.spyOn(all.store, 'get').mockImplementation((key) => {
      if (key === cut?.id) throw new StoreError('DAMAGED', 'damaged', 'Delete it.')
      return get(key)
    })
    expect(treeOf(original.id, all).leaves.map(({ row }) => row.key)).toEqual([original.id])
  })

  test('ends where files name each other as their origin', async () => {
    const original = await asked()
    const circle = (id: string, from: string): Trajectory => ({
      ...original,
      id,
      forkedFrom: { trajectory: from, token: 0, kind: 'sampled_again' },
    })
    all.store.addAll([circle('a', 'b'), circle('b', 'a')])
    expect(
      treeOf('a', all)
        .leaves.map(({ row }) => row.key)
        .toSorted(),
    ).toEqual(['a', 'b'])
  })
})

/** Branches on the built-in server: a real model, its prefix cache, and tools. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, lossMask, segmentStarts, tokenAt, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { runs } from '#testing/property-runs.ts'
import { realServices } from '#testing/real-services.ts'
import { startRollout } from '../runs/rollouts.ts'
import { type BranchRequest, startBranches } from './branches.ts'
import { treeOf } from './tree.ts'

const never = new AbortController().signal
const all = await realServices(folderOfFile())

const stored = (key: string) => all.store.get(key) as Trajectory

async function finished(rolloutId: string): Promise<void> {
  for await (const _ of all.runs.follow(rolloutId, 0, never));
}

async function asked(prompt: string, sampling: object = {}): Promise<Trajectory> {
  const { rolloutId, key } = await startRollout(
    { prompt, tools: ['calculator'], sampling: { temperature: 0, max_new_tokens: 200, ...sampling }, detached: true },
    all,
    never,
  )
  await finished(rolloutId)
  return stored(key)
}

async function branched(parent: Trajectory, request: BranchRequest) {
  const started = await startBranches(parent.id, request, all, never)
  await Promise.all(started.rollouts.map(finished))
  return { started, branches: started.keys.map(stored) }
}

const sampled = (trajectory: Trajectory): number[] => {
  const starts = segmentStarts(trajectory)
  return trajectory.segments.flatMap(({ kind, ids }, index) =>
    kind === 'response' ? ids.map((_, offset) => (starts[index] ?? 0) + offset) : [],
  )
}

/** Logprobs that are closer than this may change places, because batches add numbers in another order. */
const NEAR_TIE = 1e-3

/** Expects the same ids, except after a token whose two best alternatives are nearly equal. */
function expectSameIds(branch: Trajectory, original: Trajectory): void {
  const [own, others] = [ids(branch), ids(original)]
  const at = commonIds(own, others)
  if (at === own.length && at === others.length) return
  const [first, second] = tokenAt(original, at)?.alternatives ?? []
  const gap = (first?.logprob ?? 0) - (second?.logprob ?? Number.NEGATIVE_INFINITY)
  expect(gap, `token ${at} of ${others.length}: ${own[at]} instead of ${others[at]}`).toBeLessThan(NEAR_TIE)
}

test('A greedy branch whose forced token is the sampled one gives the original ids on the built-in server', async () => {
  const originals = [
    await asked('What is 25 * 17?'),
    await asked('What is 12 * 31 and what is 144 / 16?'),
    await asked('How much is 12 times 31?', { max_new_tokens: 20 }),
  ]
  expect(originals.map(({ segments }) => segments.length)).toEqual([4, 4, 2])
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...originals), fc.nat(), fc.boolean(), async (original, position, isForced) => {
      const positions = sampled(original)
      const at = positions[position % positions.length] ?? 0
      const id = ids(original)[at] ?? 0
      const { started, branches } = await branched(original, { at, ...(isForced && { force: { ids: [id] } }) })
      const [branch] = branches
      if (!branch) throw new Error('there is a branch')
      expect(started).toMatchObject({ shared: at, kind: isForced ? 'forced' : 'sampled_again' })
      expectSameIds(branch, original)
      expect(branch.outcome).toEqual(original.outcome)
      expect(lossMask(branch)).toEqual(lossMask(original).map((bit, index) => (isForced && index === at ? 0 : bit)))
      expect(branch.forkedFrom).toEqual({
        trajectory: original.id,
        token: at,
        kind: started.kind,
        prefixHash: inputHash(ids(original).slice(0, at)),
      })
    }),
    { numRuns: runs(24) },
  )
})

test('Several branches share the prefix in the cache of the server, and are a group', async () => {
  const original = await asked('What is 7 + 8?')
  const [first = 0] = sampled(original)
  const at = first + 5
  const { started, branches } = await branched(original, {
    at,
    n: 4,
    sampling: { temperature: 1, max_new_tokens: 30, sampling_seed: 5 },
  })
  expect([started.kind, branches.length, started.groupId]).toEqual(['settings', 4, branches[0]?.group?.id])
  for (const branch of branches) {
    expect(ids(branch).slice(0, at)).toEqual(ids(original).slice(0, at))
    const call = (branch.segments[1] as ResponseSegment).resumed?.[0]
    expect(call?.request.inputLength).toBe(at)
    // The last token is always computed, because its output is needed.
    expect(call?.usage?.cachedTokens).toBe(at - 1)
  }
  const seeds = branches.map(
    ({ segments }) => (segments[1] as ResponseSegment).resumed?.[0]?.request.samplingParams.sampling_seed,
  )
  expect(seeds).toEqual([5, 6, 7, 8])
})

test('An edited tool result and an edited question lead to other answers', async () => {
  const original = await asked('What is 25 * 17?')
  const starts = segmentStarts(original)
  const { branches: results } = await branched(original, { at: starts[2] ?? 0, edit: { text: '77' } })
  expect(results[0]?.forkedFrom).toMatchObject({ kind: 'tool_result' })
  expect(results[0]?.segments[1]).toMatchObject({ toolCalls: [{ result: { text: '77', edited: true } }] })
  // The template writes the same tokens before the result.
  expect(results[0]?.forkedFrom?.token).toBeGreaterThan(starts[2] ?? 0)
  expect(treeOf(original.id, all).leaves[1]?.fork).toMatchObject({ kind: 'tool_result', edited: '77' })
  const { branches: questions } = await branched(original, { at: 0, edit: { text: 'What is 7 + 8?' } })
  const [question] = questions
  expect(question?.segments[0]).toMatchObject({ messages: [{ role: 'user', content: 'What is 7 + 8?' }] })
  const shared = question?.forkedFrom?.token ?? 0
  expect(shared).toBeGreaterThan(0)
  expect(commonIds(ids(question as Trajectory), ids(original))).toBe(shared)
  expect(tokenCount(question as Trajectory)).toBeGreaterThan(shared)
})

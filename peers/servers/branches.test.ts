/** Tests branches on the real SGLang: its greedy replies continue from any token, and branches share its prefix cache. */
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import type { BranchesStarted } from '#lib/api/forest/branch.ts'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, lossMask, segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { application } from '../set-up/application.ts'
import { gapAt, NEAR_TIE } from './same-replies.ts'

const places = inject('places')
const rollscope = application(places.application)

async function stored(key: string): Promise<Trajectory> {
  const decoded = decodeValue(await (await rollscope.get(`/api/trajectories/${encodeURIComponent(key)}`)).json())
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.error))
  return decoded.trajectory
}

/** Starts branches and returns them after all have ended. */
async function branched(parent: Trajectory, request: object) {
  const path = `/api/trajectories/${encodeURIComponent(parent.id)}/branch`
  const started: BranchesStarted = await (await rollscope.post(path, request)).json()
  await Promise.all(started.rollouts.map(async (id) => (await rollscope.get(`/api/rollouts/${id}/events`)).text()))
  return { started, branches: await Promise.all(started.keys.map(stored)) }
}

/** Runs a prompt at temperature 0, with the calculator. */
async function greedyRun(prompt: string, server: string): Promise<Trajectory> {
  const run = await rollscope.post('/api/rollouts', {
    prompt,
    server,
    tokenizer: places.peers.model,
    tools: ['calculator'],
    sampling: { temperature: 0, max_new_tokens: 256 },
  })
  await run.text()
  return stored(run.headers.get('x-trajectory-id') ?? '')
}

/** Returns the positions of all sampled tokens. */
function sampledPositions(trajectory: Trajectory): number[] {
  const starts = segmentStarts(trajectory)
  return trajectory.segments.flatMap(({ kind, ids }, index) =>
    kind === 'response' ? ids.map((_, offset) => (starts[index] ?? 0) + offset) : [],
  )
}

const PROMPTS = ['What is 25 * 17, and then plus 9?', 'What is 12 * 31 and what is 144 / 16?', 'What is 84 / 0?']
const CASES = 16
const seed = Number(process.env.SEED ?? 1)

test.each(['sglang', 'incremental'] as const)(
  'A greedy branch at any sampled token gives the original ids on SGLang (%s)',
  async (name) => {
    const server = `branches-${name}`
    await rollscope.addServer(server, places[name])
    const originals: Trajectory[] = []
    for (const prompt of PROMPTS) originals.push(await greedyRun(prompt, server))
    for (const { outcome, segments } of originals) {
      expect(outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
      expect(segments.length).toBeGreaterThanOrEqual(4)
    }
    const counts = { forced: 0, sampled: 0, ties: 0, tokens: 0 }
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...originals), fc.nat(), fc.boolean(), async (original, position, isForced) => {
        const expected = ids(original)
        const positions = sampledPositions(original)
        const at = positions[position % positions.length] ?? 0
        const { started, branches } = await branched(original, {
          at,
          ...(isForced && { force: { ids: [expected[at]] } }),
        })
        expect(started).toMatchObject({ shared: at, kind: isForced ? 'forced' : 'sampled_again' })
        const [branch] = branches
        if (!branch) throw new Error('the server started no branch')
        expect(branch.forkedFrom).toEqual({
          trajectory: original.id,
          token: at,
          kind: started.kind,
          prefixHash: inputHash(expected.slice(0, at)),
        })
        counts[isForced ? 'forced' : 'sampled']++
        const own = ids(branch)
        const common = commonIds(own, expected)
        expect(common).toBeGreaterThanOrEqual(isForced ? at + 1 : at)
        counts.tokens += common - at
        if (common < own.length || common < expected.length) {
          const pair = [own[common], expected[common]]
          const gap = Math.max(gapAt(original, common, pair), gapAt(branch, common, pair))
          expect(gap, `token ${common}: ${pair.join(' instead of ')}`).toBeLessThanOrEqual(NEAR_TIE)
          counts.ties++
          return
        }
        expect(branch.outcome).toEqual(original.outcome)
        const mask = lossMask(original)
        expect(lossMask(branch)).toEqual(mask.map((bit, index) => (isForced && index === at ? 0 : bit)))
      }),
      { numRuns: CASES, seed, endOnFailure: true },
    )
    console.log(
      `${server}: ${counts.forced} forced and ${counts.sampled} resampled branches, ${counts.tokens} tokens are the same, ` +
        `${counts.ties} near-ties`,
    )
    expect(Math.min(counts.forced, counts.sampled)).toBeGreaterThan(0)
  },
)

test.each(['sglang', 'incremental'] as const)(
  'Several branches read their common prefix from the cache of SGLang and are a group (%s)',
  async (name) => {
    const server = `branch-group-${name}`
    await rollscope.addServer(server, places[name])
    // No other test has this prompt, so only the original run has filled the cache.
    const original = await greedyRun(`What is 29 * 13, asked for the branches on ${name}?`, server)
    const at = (sampledPositions(original)[0] ?? 0) + 5
    const sampling = { temperature: 1, max_new_tokens: 30 }
    const { started, branches } = await branched(original, { at, n: 4, sampling })
    expect([started.kind, started.shared, branches.length]).toEqual(['settings', at, 4])
    expect(branches.map(({ group }) => group?.id)).toEqual(branches.map(() => started.groupId))
    for (const branch of branches) {
      expect(ids(branch).slice(0, at)).toEqual(ids(original).slice(0, at))
      const call = (branch.segments[1] as ResponseSegment).resumed?.[0]
      expect(call?.request.inputLength).toBe(at)
      // SGLang always computes the last token, because it needs the output of this token.
      expect(call?.usage?.cachedTokens).toBe(at - 1)
    }
  },
)

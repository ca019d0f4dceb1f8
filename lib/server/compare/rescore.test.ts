/** Tests rescoring with a client that scores as SGLang does: the logprob of position n is −n. */
import { expect, test } from 'vitest'
import { type RescoreRequest, rescoreAnswerSchema } from '#lib/analysis/rescore/answer.ts'
import { compareTrajectories } from '#lib/trajectory/drift/compare.ts'
import { FORMAT, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { type ScoringScript, scoringServer } from '#testing/scoring-server.ts'
import { rescoreOnServer } from './rescore.ts'

const trajectory = (prompt: readonly number[], response: readonly number[]): Trajectory => ({
  format: FORMAT,
  id: 'drawn',
  createdAt: '2026-01-01T00:00:00.000Z',
  model: { tools: [] },
  vocab: { 1: 'a', 2: 'b', 3: 'ab', 4: 'c' },
  outcome: { kind: 'ended', reason: 'end_turn' },
  provenance: sampleTrajectory.provenance,
  segments: [
    { kind: 'prompt', ids: [...prompt], messages: [] },
    { kind: 'response', ids: [...response], thinks: [], toolCalls: [] },
  ],
})
const left = trajectory([4, 4], [1, 2, 4])
const right = trajectory([4, 4], [3, 4])
const compared = {
  left: { trajectory: left, caveats: [] },
  right: { trajectory: right, caveats: [] },
  comparison: compareTrajectories(left, right),
}
const rescored = (script: ScoringScript = {}, request: RescoreRequest = {}) => {
  const { calls, services } = scoringServer(script)
  return { calls, answer: rescoreOnServer(compared, request, services, new AbortController().signal) }
}

test('Rescoring returns the totals, every span, and the tokens that a correction would clip, in one call', async () => {
  const { calls, answer } = rescored({}, { clip: { kind: 'truncate', high: 2 } })
  // On the left, the span scores −2 −3 and the token after it −4; on the right, −2 and −3.
  expect(await answer).toMatchObject({
    servers: { left: { name: 's', modelName: 'm', weightVersions: ['7'] } },
    totals: { trainedTokens: 3, rescoredTokens: 3, units: 2, sequenceDelta: 4, k1: -2, leastRatio: Math.E },
    spans: [{ left: { tokens: 2, sum: -5 }, right: { tokens: 1, sum: -2 }, trained: 2, delta: 3 }],
    clip: { tokens: 3, of: 3 },
  })
  expect(rescoreAnswerSchema.parse(await answer)).toEqual(await answer)
  expect(calls.map(({ inputIds }) => inputIds.length)).toEqual([5, 4])
})

test('Rescoring refuses a sequence that is too long before it scores anything, and reports both lengths', async () => {
  const { calls, answer } = rescored({ contextLength: 5 })
  await expect(answer).rejects.toMatchObject({
    details: { code: 'CONTEXT_LENGTH', detail: expect.stringMatching(/^5 tokens .*5$/) },
  })
  expect(calls).toEqual([])
})

test('Rescoring answers with a problem if a server fails on the way', async () => {
  const { answer } = rescored({ answer: (chunk) => ({ ...chunk, end: { finish: { kind: 'abort' }, usage: {} } }) })
  await expect(answer).rejects.toMatchObject({ details: { status: 502, code: 'UPSTREAM_ERROR' } })
})

test('One trajectory on two servers has their difference, and with a second pass the noise of each', async () => {
  const one = { left: compared.left, right: compared.left, comparison: compareTrajectories(left, left) }
  const { calls, services } = scoringServer({})
  const signal = new AbortController().signal
  const once = await rescoreOnServer(one, { tokens: 'every' }, services, signal)
  expect(once.difference).toEqual({
    spread: { tokens: 4, mean: 0, median: 0, p95: 0, p99: 0, max: 0 },
    floor: null,
    above: null,
    jump: null,
  })
  const before = calls.length
  const twice = await rescoreOnServer(one, { tokens: 'every', left: 's', right: 't', repeat: true }, services, signal)
  expect(calls.length - before).toBe(4)
  expect(twice.difference).toMatchObject({
    noise: { left: { kind: 'measured', spread: { p99: 0 } }, right: { kind: 'measured' } },
    floor: 0,
    above: 0,
    jump: null,
  })
  expect(rescoreAnswerSchema.parse(twice)).toEqual(twice)
  expect(await rescored().answer).not.toHaveProperty('difference')
})

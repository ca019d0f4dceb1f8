/** Rescoring over a client that scores as SGLang does: the position n with −n. */
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

test('one call answers the totals, every span, and what a correction would clip', async () => {
  const { calls, answer } = rescored({}, { clip: { kind: 'truncate', high: 2 } })
  // Left: −2 −3 for the span, −4 behind it; right: −2, −3.
  expect(await answer).toMatchObject({
    servers: { left: { name: 's', modelName: 'm', weightVersions: ['7'] } },
    totals: { trainedTokens: 3, rescoredTokens: 3, units: 2, sequenceDelta: 4, k1: -2, leastRatio: Math.E },
    spans: [{ left: { tokens: 2, sum: -5 }, right: { tokens: 1, sum: -2 }, trained: 2, delta: 3 }],
    clip: { tokens: 3, of: 3 },
  })
  expect(rescoreAnswerSchema.parse(await answer)).toEqual(await answer)
  expect(calls.map(({ inputIds }) => inputIds.length)).toEqual([5, 4])
})

test('what is too long is refused before anything is scored, and says both lengths', async () => {
  const { calls, answer } = rescored({ contextLength: 5 })
  await expect(answer).rejects.toMatchObject({
    details: { code: 'CONTEXT_LENGTH', detail: expect.stringMatching(/^5 tokens .*5$/) },
  })
  expect(calls).toEqual([])
})

test('a server that fails on the way is a problem', async () => {
  const { answer } = rescored({ answer: (chunk) => ({ ...chunk, end: { finish: { kind: 'abort' }, usage: {} } }) })
  await expect(answer).rejects.toMatchObject({ details: { status: 502, code: 'UPSTREAM_ERROR' } })
})

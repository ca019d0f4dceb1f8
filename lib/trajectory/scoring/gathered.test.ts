import { expect, test } from 'vitest'
import { packExperts } from '../experts/routed-experts.ts'
import { gatherScores } from './gathered.ts'
import type { ScoreLine } from './score.ts'

const server: ScoreLine = { kind: 'server', name: 's' }
const some: ScoreLine = { kind: 'scores', start: 1, logprobs: [-1, null], weightVersion: '7' }

async function gathered(...lines: readonly ScoreLine[]) {
  const scores = new Float64Array(4).fill(Number.NaN)
  const reportedCounts: number[] = []
  const end = await gatherScores(
    (async function* () {
      yield* lines
    })(),
    scores,
    (done) => reportedCounts.push(done),
  ).catch((error: unknown) => error)
  return { scores: [...scores], reportedCounts, end }
}

test('gatherScores puts every score at its token and names each weight version once', async () => {
  const { scores, reportedCounts, end } = await gathered(
    server,
    some,
    { kind: 'scores', start: 2, logprobs: [-2, -3], weightVersion: '7' },
    { kind: 'done' },
  )
  expect(scores).toEqual([Number.NaN, -1, -2, -3])
  expect(reportedCounts).toEqual([2, 4])
  expect(end).toMatchObject({ server: { name: 's' }, versions: ['7'] })
})

test('gatherScores joins the routed experts of all parts', async () => {
  const part = (start: number, ...entries: readonly number[]) =>
    packExperts({ start, perToken: 1, entries: Int32Array.from(entries) })
  const { end } = await gathered(
    server,
    { kind: 'scores', start: 0, logprobs: [null, -1], routedExperts: part(0, 5) },
    { kind: 'scores', start: 2, logprobs: [-2, -3], routedExperts: part(1, 6, 7) },
    { kind: 'done' },
  )
  expect(end).toMatchObject({ experts: { start: 0, perToken: 1, entries: Int32Array.of(5, 6, 7) } })
  expect((await gathered(server, some, { kind: 'done' })).end).toHaveProperty('experts', undefined)
})

test('gatherScores keeps the received scores if the stream fails or breaks off', async () => {
  const failed = await gathered(server, some, { kind: 'failed', code: 'X', detail: 'it fell over', hint: 'try again' })
  expect(failed.scores[1]).toBe(-1)
  expect(failed.end).toMatchObject({ code: 'X', message: 'it fell over', hint: 'try again' })
  expect((await gathered(server, { kind: 'scores', start: 0, logprobs: [-2] })).end).toMatchObject({
    code: 'UPSTREAM_TRUNCATED',
  })
  expect((await gathered({ kind: 'done' })).end).toMatchObject({ code: 'UPSTREAM_TRUNCATED' })
})

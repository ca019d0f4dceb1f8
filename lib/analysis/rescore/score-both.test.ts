import { expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { ScoreRequest } from '#lib/trajectory/scoring/score.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { type RescoreChoice, scorePlan } from './plan.ts'
import { rescore } from './rescoring.ts'
import { scoreBoth, withoutScores } from './score-both.ts'
import { comparedOf, drawn, prefill, scorer } from './test-model.ts'

const ONE: RescoreChoice = { servers: { left: 's', right: 's' }, tokens: 'every' }
const TWO: RescoreChoice = { servers: { left: 's', right: 't' }, tokens: 'every' }

async function scored(
  left: Trajectory,
  right: Trajectory,
  choice: RescoreChoice,
  options: Parameters<typeof scorer>[1] & { readonly abortAt?: number } = {},
) {
  const compared = comparedOf(left, right)
  const plan = scorePlan(compared, choice)
  const asked: ScoreRequest[] = []
  const scores = withoutScores(plan)
  const progress: string[] = []
  const controller = new AbortController()
  const end = await scoreBoth(plan, scores, {
    score: scorer(asked, options),
    signal: controller.signal,
    onProgress: ({ done, of }) => {
      progress.push(`${done}/${of}`)
      if (done === options.abortAt) controller.abort(new Error('given up'))
    },
  }).catch((error: unknown) => error)
  return { plan, asked, scores, progress, end, rescoring: rescore(compared, scores) }
}

test('one server scores the longer side, and of the other only what follows the shared prefix', async () => {
  const [left, right] = [drawn('c|a|b a|b|c'), drawn('c|a|b ab|c')]
  const { asked, scores, progress } = await scored(left, right, ONE)
  expect(asked).toEqual([
    { ids: ids(left), server: 's', ranges: [{ start: 0, end: 6 }] },
    { ids: ids(right), server: 's', ranges: [{ start: 3, end: 5 }] },
  ])
  expect(scores.left).toEqual(prefill(ids(left)))
  expect(scores.right).toEqual(prefill(ids(right)))
  expect(progress).toEqual(['2/8', '4/8', '6/8', '8/8'])
  const swapped = await scored(right, left, ONE)
  expect(swapped.asked.map((request) => request.ids)).toEqual([ids(left), ids(right)])
  expect(swapped.scores.left).toEqual(prefill(ids(right)))
})

test('each side is scored with the adapter of its run, and a rebuilt side with that of the other', async () => {
  const side = drawn('c|a|b a|b|c')
  const withAdapter = (adapter?: string): Trajectory => ({
    ...side,
    segments: side.segments.map((segment) => {
      if (segment.kind === 'prompt') return segment
      const request = { server: 's', samplingParams: {}, inputLength: 0, inputHash: '', streamed: false }
      return { ...segment, request: { ...request, ...(adapter !== undefined && { adapter }) } }
    }),
  })
  const adaptersOf = async (left: Trajectory, right: Trajectory) =>
    (await scored(left, right, ONE)).asked.map(({ adapter }) => adapter)
  expect(await adaptersOf(withAdapter('math'), side)).toEqual(['math'])
  expect(await adaptersOf(side, withAdapter('math'))).toEqual(['math'])
  expect(await adaptersOf(withAdapter('math'), withAdapter())).toEqual(['math', undefined])
  expect(await adaptersOf(side, side)).toEqual([undefined])
})

test('equal sides are scored once by one server, and twice by two servers to compare them', async () => {
  const side = drawn('c|a|b a|b|c')
  const once = await scored(side, side, ONE)
  expect(once.asked).toHaveLength(1)
  expect(once.rescoring.totals.delta).toBe(0)
  expect(once.end).toMatchObject({ left: { server: { name: 's' } }, right: { server: { name: 's' } } })
  const twice = await scored(side, side, TWO, { weights: { t: 1 } })
  expect(twice.asked.map(({ server }) => server)).toEqual(['s', 't'])
  expect(twice.end).toMatchObject({ left: { versions: ['0'] }, right: { versions: ['1'] } })
  const expected = prefill(ids(side), 1)
    .subarray(3)
    .map((value, index) => value - (prefill(ids(side))[3 + index] as number))
  expect(twice.rescoring.units.deltas).toEqual(expected)
})

test('only trained and drifting tokens are scored unless every token is requested', () => {
  const far = Array.from({ length: 100 }, () => 'b').join('|')
  const compared = comparedOf(drawn(`c|a|b|${far} c|c`), drawn(`c|ab|${far} c|c`))
  const { left, right, shared } = scorePlan(compared, { ...ONE, tokens: 'trained' })
  expect(shared).toBe(1)
  expect(left.request.ranges).toEqual([
    { start: 1, end: 3 },
    { start: 103, end: 105 },
  ])
  expect(right.request.ranges).toEqual([
    { start: 1, end: 2 },
    { start: 102, end: 104 },
  ])
  expect([left.tokens, right.tokens]).toEqual([4, 3])
})

test('ranges close to each other are scored in one call', () => {
  const { left } = scorePlan(comparedOf(drawn('c a b c'), drawn('c a b c')), { ...ONE, tokens: 'trained' })
  expect(left.request.ranges).toEqual([{ start: 1, end: 4 }])
})

test('scores that have arrived stay when a server fails, also those of the shared prefix', async () => {
  const { end, scores, rescoring } = await scored(drawn('c|a|b a|b|c|a'), drawn('c|a|b a|b|c|b'), ONE, { failAfter: 3 })
  expect(end).toMatchObject({ code: 'UPSTREAM_ERROR', hint: 'try again' })
  expect([...scores.right.subarray(1, 6)]).toEqual([...scores.left.subarray(1, 6)])
  expect(rescoring.totals.units).toBeGreaterThan(0)
})

test('if one of two servers fails, scoring by the other is cancelled', async () => {
  const sides = [drawn('c|a|b a|b|c|a'), drawn('c|a|b a|b|c|b')] as const
  const { end } = await scored(...sides, TWO, { failAfter: 1 })
  expect(end).toMatchObject({ code: 'UPSTREAM_ERROR' })
  const plan = scorePlan(comparedOf(...sides), TWO)
  let givenUp: unknown
  const scoring = scoreBoth(plan, withoutScores(plan), {
    async *score({ server }, signal) {
      if (server === 's') throw new Error('down')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      givenUp = signal.reason
    },
    signal: new AbortController().signal,
  })
  await expect(scoring).rejects.toThrow('down')
  await expect.poll(() => givenUp).toEqual(new Error('down'))
})

test('cancelled scoring reports it and keeps the scores that have arrived', async () => {
  const { end, scores } = await scored(drawn('c|a|b a|b|c'), drawn('c|a|b ab|c'), ONE, { abortAt: 4 })
  expect(end).toMatchObject({ message: 'given up' })
  expect(Number.isNaN(scores.left[3])).toBe(false)
  expect(Number.isNaN(scores.left[5])).toBe(true)
})

test('no request is sent if nothing is trained and nothing drifts', async () => {
  const side = drawn('c|a|b')
  const { asked, end } = await scored(side, side, { ...TWO, tokens: 'trained' })
  expect([asked, end]).toEqual([[], { left: undefined, right: undefined }])
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs as logprobsOf, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { trajectories } from '#testing/trajectories.ts'
import {
  applyRepair,
  CONTEXT_ZEROS,
  offerRepair,
  repairs,
  TRAILING_PADDING,
  TRAINED_ZEROS,
  undoRepair,
} from './repairs.ts'

const provenance = { kind: 'import', format: 'verl', lacked: [] } as const
const file = (segments: readonly Segment[], change: Partial<Trajectory> = {}): Trajectory => ({
  ...sample,
  model: { tools: [] },
  vocab: {},
  segments,
  provenance,
  ...change,
})
const prompt = (tokens: readonly number[], more: Partial<Segment> = {}): Segment =>
  ({ kind: 'prompt', ids: tokens, messages: [], ...more }) as Segment
const response = (tokens: readonly number[], more: Partial<Segment> = {}): Segment =>
  ({ kind: 'response', ids: tokens, thinks: [], toolCalls: [], ...more }) as Segment
const zeros = (count: number): number[] => new Array<number>(count).fill(0)
const PAD = 9
const pads = (count: number): number[] => new Array<number>(count).fill(PAD)

/** Trajectories of which many have zeros for logprobs, or padding. */
const odd = fc
  .tuple(trajectories, fc.boolean(), fc.nat(12), fc.nat(12))
  .map(([trajectory, isZero, first, second]): Trajectory => {
    const segments = trajectory.segments.map((segment) => ({
      ...segment,
      ...(isZero && { logprobs: segment.ids.map(() => 0) }),
    }))
    return { ...trajectory, provenance, segments: [...segments, prompt([...pads(first), ...zeros(second)])] }
  })

describe.each(repairs.map((repair) => [repair.name, repair] as const))('the repair %s', (_, each) => {
  test('is done once: a second time finds nothing and changes nothing', () => {
    fc.assert(
      fc.property(odd, (trajectory) => {
        const repaired = each.repair(trajectory)
        expect(each.finds(repaired)).toBeUndefined()
        expect(each.repair(repaired)).toBe(repaired)
      }),
    )
  })

  test('changes no id, mask or nonzero logprob of a token that stays, and gives a valid file', () => {
    fc.assert(
      fc.property(odd, (trajectory) => {
        const repaired = applyRepair(trajectory, each)
        if (!repaired) return
        const length = ids(repaired).length
        expect(ids(repaired)).toEqual(ids(trajectory).slice(0, length))
        expect(lossMask(repaired)).toEqual(lossMask(trajectory).slice(0, length))
        for (const [index, logprob] of logprobsOf(repaired).entries())
          if (logprob !== null || logprobsOf(trajectory)[index] !== 0)
            expect(logprob).toBe(logprobsOf(trajectory)[index])
        expect(decode(encode(repaired))).toEqual({ ok: true, trajectory: repaired })
      }),
    )
  })

  test('is undone: the trajectory equals the one before it, also with other repairs before and after it', () => {
    fc.assert(
      fc.property(odd, fc.shuffledSubarray([...repairs]), (trajectory, others) => {
        const all = [...others.filter((other) => other !== each), each]
        for (const order of [all, all.toReversed()]) {
          const repaired = order.reduce((before, repair) => applyRepair(before, repair) ?? before, trajectory)
          const without = order
            .filter((repair) => repair !== each)
            .reduce((before, repair) => applyRepair(before, repair) ?? before, trajectory)
          expect(undoRepair(repaired, each.name) ?? repaired).toEqual(without)
          expect(decode(encode(repaired))).toEqual({ ok: true, trajectory: repaired })
        }
      }),
    )
  })

  test('is recorded with its name, and not offered for a trajectory that was not imported', () => {
    const trajectory = file([
      prompt([1, 2, 3, 4], { logprobs: zeros(4) }),
      response([5, 6, 7, 8], { logprobs: zeros(4) }),
      prompt(pads(8)),
    ])
    const repaired = applyRepair(trajectory, each)
    expect(repaired?.provenance).toMatchObject({ repairs: [{ name: each.name, message: each.finds(trajectory) }] })
    const run = { ...trajectory, provenance: sample.provenance }
    expect([applyRepair(run, each), offerRepair(each, run)]).toEqual([undefined, {}])
    expect(offerRepair(each, trajectory)).toEqual({ repair: { name: each.name, title: each.title } })
  })
})

test('several repairs are recorded in order, and logprobs are missing when none is left', () => {
  const trajectory = file([
    prompt([1, 2, 3, 4], { logprobs: zeros(4) }),
    response([5, 6, 7, 8], { logprobs: [0, 0, 0, 0] }),
  ])
  const first = applyRepair(trajectory, CONTEXT_ZEROS)
  expect(first?.segments.map(({ logprobs }) => logprobs)).toEqual([undefined, zeros(4)])
  expect(first?.provenance).not.toHaveProperty('missing')
  const second = first && applyRepair(first, TRAINED_ZEROS)
  expect(second?.provenance).toMatchObject({
    missing: ['logprobs'],
    repairs: [
      { name: 'zero-logprobs-context', message: '4 logprobs of context tokens that were exactly 0 became unknown.' },
      { name: 'zero-logprobs-trained' },
    ],
  })
})

test('an undone repair restores the zeros of a file, and a number that was measured since then stays', () => {
  const trajectory = file([response([1, 2, 3, 4], { logprobs: zeros(4) })])
  const repaired = applyRepair(trajectory, TRAINED_ZEROS)
  if (!repaired) throw new Error('nothing was repaired')
  expect(repaired.provenance).toMatchObject({
    missing: ['logprobs'],
    repairs: [{ undo: { kind: 'zeros', ranges: [{ start: 0, end: 4 }] } }],
  })
  const measured = { ...repaired, segments: [response([1, 2, 3, 4], { logprobs: [null, -2, null, null] })] }
  expect(undoRepair(measured, TRAINED_ZEROS.name)).toEqual({
    ...trajectory,
    segments: [response([1, 2, 3, 4], { logprobs: [0, -2, 0, 0] })],
  })
})

test('a repair cannot be undone if its file did not record how, if another one of its kind, or if tokens were added since then', () => {
  const padded = file([response([1]), prompt(pads(9))])
  const repaired = applyRepair(padded, TRAILING_PADDING)
  if (repaired?.provenance.kind !== 'import') throw new Error('nothing was repaired')
  expect(undoRepair(repaired, CONTEXT_ZEROS.name)).toBeUndefined()
  const continued = { ...repaired, segments: [...repaired.segments, prompt([5])] }
  expect(undoRepair(continued, TRAILING_PADDING.name)).toBeUndefined()
  const named = { name: TRAILING_PADDING.name, message: 'Padding was removed.' }
  const older = { ...repaired, provenance: { ...repaired.provenance, repairs: [named] } }
  expect(undoRepair(older, TRAILING_PADDING.name)).toBeUndefined()
  expect(undoRepair({ ...padded, provenance: sample.provenance }, TRAILING_PADDING.name)).toBeUndefined()
})

test('columns that were added after padding was removed are unknown at the restored tokens', () => {
  const repaired = applyRepair(
    file([response([1, ...pads(9)], { mask: [1, ...zeros(9)] as (0 | 1)[] })]),
    TRAILING_PADDING,
  )
  const changed = {
    logprobs: [-1],
    columns: { advantage: [2] },
    topLogprobs: { k: 1, ids: [1], logprobs: [-1] },
  } as const
  const [segment] = repaired?.segments ?? []
  if (!repaired || !segment) throw new Error('nothing was repaired')
  const nulls = new Array<null>(9).fill(null)
  expect(undoRepair({ ...repaired, segments: [{ ...segment, ...changed }] }, TRAILING_PADDING.name)?.segments).toEqual([
    response([1, ...pads(9)], {
      mask: [1, ...zeros(9)] as (0 | 1)[],
      logprobs: [-1, ...nulls],
      columns: { advantage: [2, ...nulls] },
      topLogprobs: { k: 1, ids: [1, ...new Array<number>(9).fill(-1)], logprobs: [-1, ...nulls] },
    }),
  ])
})

test('a measured logprob among zeros of trained tokens leaves all as they are', () => {
  expect(TRAINED_ZEROS.finds(file([response([1, 2, 3, 4, 5], { logprobs: [0, 0, 0, 0, -0.1] })]))).toBeUndefined()
  const mixed = file([response([1, 2, 3, 4, 5, 6], { logprobs: [0, 0, 0, 0, -3, 0], mask: [1, 1, 1, 1, 0, 0] })])
  expect(TRAINED_ZEROS.repair(mixed).segments[0]?.logprobs).toEqual([null, null, null, null, -3, 0])
})

describe('padding at the end', () => {
  test('is removed with its columns, alternatives and spans, over several segments', () => {
    const padded = response([1, 2, PAD, PAD], {
      mask: [1, 1, 0, 0],
      logprobs: [-1, -2, 0, null],
      columns: { advantage: [1, 1, 0, 0] },
      topLogprobs: { k: 1, ids: [1, 2, -1, -1], logprobs: [-1, -2, null, null] },
      thinks: [
        { start: 0, end: 4, closed: false },
        { start: 3, end: 4, closed: true },
      ],
      weightVersions: [{ version: 'a', start: 0, end: 4 }],
      problems: [
        { kind: 'number', message: 'kept', index: 1 },
        { kind: 'number', message: 'cut', index: 3 },
        { kind: 'file', message: 'whole' },
      ],
    } as Partial<Segment>)
    const trajectory = file([padded, prompt(pads(7))])
    expect(TRAILING_PADDING.finds(trajectory)).toBe('9 padding tokens at the end were removed.')
    expect(TRAILING_PADDING.repair(trajectory).segments).toEqual([
      {
        ...response([1, 2]),
        mask: [1, 1],
        logprobs: [-1, -2],
        columns: { advantage: [1, 1] },
        topLogprobs: { k: 1, ids: [1, 2], logprobs: [-1, -2] },
        thinks: [{ start: 0, end: 2, closed: false }],
        weightVersions: [{ version: 'a', start: 0, end: 2 }],
        problems: [
          { kind: 'number', message: 'kept', index: 1 },
          { kind: 'file', message: 'whole' },
        ],
      },
    ])
  })

  test('may be two special tokens, or tokens that are named as padding, but not two words', () => {
    const ends = (text: string, specialIds?: readonly number[]) =>
      TRAILING_PADDING.finds(
        file([response([1]), prompt(pads(2))], {
          vocab: { '1': 'a', [PAD]: text },
          model: { tools: [], ...(specialIds && { tokenizer: { name: 'x', specialIds } }) },
        }),
      )
    expect(ends('<|im_end|>', [PAD])).toBe('2 padding tokens at the end were removed.')
    expect(ends('<|endoftext|>')).toBe('2 padding tokens at the end were removed.')
    expect(ends('<pad>')).toBe('2 padding tokens at the end were removed.')
    expect(ends('\n')).toBeUndefined()
  })

  test.each<[string, readonly Segment[]]>([
    ['there are no tokens', []],
    ['all tokens are equal', [prompt(pads(20))]],
    ['the run is short and its text unknown', [response([1]), prompt(pads(7))]],
    ['the tokens are trained', [response([1, ...pads(9)])]],
    ['the tokens have logprobs', [response([1]), prompt(pads(9), { logprobs: pads(9).map(() => -1) })]],
    [
      'a call contains the tokens',
      [
        response([1, 2, ...pads(9)], {
          mask: [1, 1, ...zeros(9)] as (0 | 1)[],
          toolCalls: [
            { kind: 'malformed', id: 'c', raw: '', error: '', span: { start: 1, end: 11 }, text: { start: 0, end: 0 } },
          ],
        } as Partial<Segment>),
      ],
    ],
  ])('is not found if %s', (_, segments) => {
    expect(TRAILING_PADDING.finds(file(segments))).toBeUndefined()
  })

  test('leaves a prompt that has messages, and a response that has one', () => {
    const messages = [{ role: 'user', content: 'Q' }] as const
    const trajectory = file([response([1]), prompt(pads(9), { messages } as Partial<Segment>)])
    expect(TRAILING_PADDING.repair(trajectory).segments).toEqual([
      response([1]),
      prompt([], { messages } as Partial<Segment>),
    ])
    const message = { role: 'assistant', content: 'A' }
    const masked = { message, mask: zeros(9) as (0 | 1)[] } as Partial<Segment>
    expect(TRAILING_PADDING.repair(file([response([1]), response(pads(9), masked)])).segments).toHaveLength(2)
  })
})

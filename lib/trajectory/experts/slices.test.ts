import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drawRouting } from '#testing/routing.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { Segment, Trajectory } from '../format/trajectory.ts'
import { tokenCount } from '../tokens/tokens.ts'
import { joinedExperts, packExperts } from './routed-experts.ts'
import { expertSlices, nestedExperts, withExpertSlices, withNestedExperts } from './slices.ts'

const LAYERS = 3
const PER_LAYER = 2

const segment = (kind: Segment['kind'], tokens: number): Segment =>
  kind === 'prompt'
    ? { kind, ids: Array<number>(tokens).fill(1), messages: [] }
    : { kind, ids: Array<number>(tokens).fill(2), thinks: [], toolCalls: [] }

/** Turns of a prompt and a response. */
const anySegments = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 4 })
  .map((turns) => turns.flatMap(([prompt, response]) => [segment('prompt', prompt), segment('response', response)]))

const trajectoryOf = (segments: readonly Segment[]): Trajectory => ({ ...sampleTrajectory, segments: [...segments] })

/** Returns the experts of all tokens but the last, by token, layer and choice. */
function nestedFor(segments: readonly Segment[], seed: number) {
  const rows = tokenCount({ segments }) - 1
  const { entries, perToken } = drawRouting({ rows, layers: LAYERS, perLayer: PER_LAYER, experts: 6, seed })
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: LAYERS }, (_, layer) => {
      const from = row * perToken + layer * PER_LAYER
      return Array.from(entries.subarray(from, from + PER_LAYER))
    }),
  )
}

describe('Routed experts of all tokens but the last', () => {
  test('are assigned to the responses, and written as slices and as rows of layers again', () => {
    fc.assert(
      fc.property(anySegments, fc.nat(), (segments, seed) => {
        const nested = nestedFor(segments, seed)
        const routed = withNestedExperts(segments, nested) ?? []
        const trajectory = trajectoryOf(routed)
        expect(Array.from(joinedExperts(trajectory)?.entries ?? [])).toEqual(nested.flat(2))
        expect(nestedExperts(trajectory)).toEqual(nested)
        const slices = expertSlices(trajectory) ?? []
        expect(slices).toHaveLength(segments.length / 2)
        const again = trajectoryOf(withExpertSlices(segments, slices) ?? [])
        expect(joinedExperts(again)?.entries).toEqual(joinedExperts(trajectory)?.entries)
      }),
    )
  })

  test('are those of the later tokens if a response without tokens begins the run', () => {
    const segments = [segment('response', 0), segment('prompt', 3), segment('response', 2)]
    const nested = nestedFor(segments, 3)
    const routed = withNestedExperts(segments, nested) ?? []
    expect(nestedExperts(trajectoryOf(routed))).toEqual(nested)
    expect(routed.at(-1)).toMatchObject({ routedExperts: { start: 0 } })
  })

  test('of slices, which do not say how many experts a layer chooses, have the layers of the model if there are enough tokens', () => {
    const segments = [segment('prompt', 30), segment('response', 20)]
    const nested = nestedFor(segments, 1)
    const slices = expertSlices(trajectoryOf(withNestedExperts(segments, nested) ?? [])) ?? []
    expect(nestedExperts(trajectoryOf(withExpertSlices(segments, slices) ?? []))).toEqual(nested)
  })
})

describe('Routed experts are not written', () => {
  const segments = [segment('prompt', 4), segment('response', 3)]
  const withRows = (start: number, rows: number) =>
    trajectoryOf([
      segments[0] as Segment,
      {
        ...(segments[1] as Segment),
        routedExperts: packExperts({ start, perToken: 1, entries: new Int32Array(rows) }),
      } as Segment,
    ])

  test.each([
    ['that begin after the first token', withRows(1, 5)],
    ['that end before the last token but one', withRows(0, 5)],
    ['of a run without any', trajectoryOf(segments)],
  ])('%s', (_, trajectory) => {
    expect(expertSlices(trajectory)).toBeUndefined()
    expect(nestedExperts(trajectory)).toBeUndefined()
  })

  test('with a prompt after the last response, whose tokens have none', () => {
    const trajectory = withRows(0, 6)
    expect(expertSlices(trajectory)).toHaveLength(1)
    const longer = trajectoryOf([...trajectory.segments, segment('prompt', 2)])
    expect([expertSlices(longer), nestedExperts(longer)]).toEqual([undefined, undefined])
  })
})

describe('Routed experts of a file stay unassigned', () => {
  const segments = [segment('prompt', 2), segment('response', 2), segment('prompt', 1), segment('response', 3)]
  const nested = nestedFor(segments, 2)
  const slices = expertSlices(trajectoryOf(withNestedExperts(segments, nested) ?? [])) ?? []

  test.each([
    ['the number of slices differs from that of the turns', slices.slice(1)],
    ['a slice has the rows of another turn', slices.toReversed()],
    ['a slice is not base64', [slices[0] as string, '§']],
  ])('if %s', (_, wrong) => {
    expect(withExpertSlices(segments, wrong)).toBeUndefined()
  })

  test.each([
    ['there are none', segments, []],
    ['there are too few rows', segments, nested.slice(1)],
    ['rows have no entries', segments, nested.map(() => [])],
    ['rows have different lengths', segments, nested.with(2, [[1]])],
    ['layers have different lengths', segments, nested.with(2, [[1], [2, 3], [4, 5, 6]])],
    ['rows have the same entries in other layers', segments, nested.with(2, [[1, 2, 3, 4, 5, 6]])],
    ['the file ends with a prompt', [...segments, segment('prompt', 1)], [...nested, nested[0] ?? []]],
  ])('if %s', (_, all, rows) => {
    expect(withNestedExperts(all, rows)).toBeUndefined()
  })
})

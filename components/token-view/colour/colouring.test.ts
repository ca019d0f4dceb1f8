import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ResponseSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { columnNames } from '#lib/trajectory/tokens/column-roles.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { withRatios } from '#testing/trainer-ratios.ts'
import { trajectoryReading } from '../card/token-reading.ts'
import { colouringOf } from './colouring.ts'
import type { Coloured } from './mode.ts'
import { colourGroups, heatToggled, maskToggled } from './modes.ts'
import { HEAT_LEVELS } from './palette.ts'
import { colourScale } from './scale.ts'

type Part = Partial<ResponseSegment>

const response = (logprobs: (number | null)[], more: Part = {}): ResponseSegment => ({
  kind: 'response',
  ids: logprobs.map((_, index) => index),
  logprobs,
  thinks: [],
  toolCalls: [],
  ...more,
})
const prompt = (logprobs: (number | null)[]): Segment => ({
  kind: 'prompt',
  ids: logprobs.map(() => 0),
  logprobs,
  messages: [],
})
const made = (segments: readonly SegmentView[]): Coloured => ({ segments, model: { tools: [] } })

/** Returns the short names of the colours of a segment's tokens. */
function drawn(trajectory: Coloured, name: string, limit?: number, at = trajectory.segments.length - 1) {
  const { palette, levels } = colouringOf(trajectory, name, limit)
  const segment = trajectory.segments[at] as SegmentView
  const level = levels(segment)
  return Array.from({ length: segment.ids.length }, (_, offset) => {
    const colour = palette[level(offset)]
    return colour === undefined ? '' : colour.replace(/^var\(--(.*)\)$/, '$1')
  })
}
const words = (trajectory: Coloured, name: string, at = trajectory.segments.length - 1) => {
  const segment = trajectory.segments[at] as SegmentView
  return Array.from({ length: segment.ids.length }, (_, offset) => colouringOf(trajectory, name).words(segment, offset))
}
const scaleOf = (trajectory: Coloured, name: string) => {
  const { scale } = colouringOf(trajectory, name)
  if (scale.kind !== 'number') throw new Error(`${name} is no number`)
  return scale
}

describe('surprisal colours', () => {
  test('the scale ends at p95 of trained tokens, rounded up to half a nat, so that outliers and context do not flatten it', () => {
    const { limit, p95 } = scaleOf(
      made([prompt([-50]), response([...Array(99).fill(-2.2), -80]), response([-90], { mask: [0] })]),
      'logprob',
    )
    expect([limit, p95]).toEqual([2.5, 2.2])
    const nothing = scaleOf(made([]), 'logprob')
    expect([nothing.limit, nothing.p95, nothing.known]).toEqual([1, null, 0])
  })

  test('a token without a logprob has its own colour or none, neither likely nor unlikely', () => {
    const trajectory = made([prompt([null, -99, 0]), response([null, 0, -0, -1, -99, Number.NEGATIVE_INFINITY])])
    expect(drawn(trajectory, 'logprob', 2)).toEqual(['heat-unknown', '', '', 'heat-4', 'heat-8', 'heat-8'])
    expect(drawn(trajectory, 'logprob', 2, 0)).toEqual(['', '', ''])
    expect(drawn(trajectory, 'logprobs', 2, 0)).toEqual(['', 'heat-8', ''])
    expect(scaleOf(trajectory, 'logprob')).toMatchObject({ known: 4, unknown: 1, min: 0, max: 99 })
    expect(words(trajectory, 'logprob')).toEqual([
      'surprisal no data',
      'surprisal 0 nats',
      'surprisal 0 nats',
      'surprisal 1 nats',
      'surprisal 99 nats',
      'surprisal Infinity nats',
    ])
  })

  test('an invalid limit leaves the end of the scale at p95', () => {
    const trajectory = made([response([-1, -1])])
    for (const limit of [undefined, 0, -3, Number.NaN, Number.POSITIVE_INFINITY])
      expect(colouringOf(trajectory, 'logprob', limit).limit).toBe(1)
    expect(colouringOf(trajectory, 'logprob', 0.25).limit).toBe(0.25)
  })

  test('values at masked tokens do not change the scale', () => {
    const token = fc.record({
      trained: fc.boolean(),
      value: fc.option(fc.double({ min: -1e6, max: 1e6, noNaN: true })),
      other: fc.option(fc.double({ min: -1e6, max: 1e6, noNaN: true })),
    })
    fc.assert(
      fc.property(
        fc.array(token),
        fc.constantFrom('logprob', 'logprobs', 'probability', 'column:x'),
        (tokens, name) => {
          const withMasked = (masked: (token: (typeof tokens)[number]) => number | null) => {
            const values = tokens.map((token) => (token.trained ? token.value : masked(token)))
            return made([
              response(values, { mask: tokens.map(({ trained }) => (trained ? 1 : 0)), columns: { x: values } }),
            ])
          }
          const scale = scaleOf(
            withMasked(() => null),
            name,
          )
          expect(
            scaleOf(
              withMasked(() => 0),
              name,
            ),
          ).toEqual(scale)
          expect(
            scaleOf(
              withMasked(({ other }) => other),
              name,
            ),
          ).toEqual(scale)
        },
      ),
    )
  })
})

describe('colours of other numbers', () => {
  test('probability colours are warmer for less likely tokens', () => {
    const trajectory = made([response([0, Math.log(0.75), Math.log(0.5), null])])
    expect(drawn(trajectory, 'probability', 0.5)).toEqual(['', 'heat-4', 'heat-8', 'heat-unknown'])
    expect(words(trajectory, 'probability')).toEqual([
      'probability 100 %',
      'probability 75 %',
      'probability 50 %',
      'probability no data',
    ])
    expect(scaleOf(trajectory, 'probability').limit).toBe(0.5)
  })

  test('entropy and margin are computed from the alternatives, and report no data where these are unknown', () => {
    const half = Math.log(0.5)
    const trajectory = made([
      response([half, half, half], {
        topLogprobs: { k: 2, ids: [1, 2, 1, -1, -1, -1], logprobs: [half, half, half, null, null, null] },
      }),
    ])
    const two = Math.log(2).toPrecision(3)
    expect(words(trajectory, 'entropy')).toEqual([
      `entropy ${two} nats (approximate)`,
      `entropy ${two} nats (approximate)`,
      'entropy no data',
    ])
    expect(words(trajectory, 'margin')).toEqual(['margin 0 (approximate)', 'margin no data', 'margin no data'])
    expect(drawn(trajectory, 'margin')).toEqual(['heat-8', 'heat-unknown', 'heat-unknown'])
  })

  test('a column of both signs diverges around 0, a ratio diverges around 1, and other columns have one direction', () => {
    const columns = {
      advantage: [-2, -1, 0, 1, 2],
      importanceRatio: [0.5, 1, 1.5, 2, 1],
      kl: [0, 0.5, 1, null, 2],
      trainerLogprobs: [-2, -1, 0, -1, -1],
      nothing: [null, null, null, null, null],
    }
    const trajectory = made([prompt([0]), response([0, 0, 0, 0, 0], { columns })])
    expect(drawn(trajectory, 'column:advantage')).toEqual(['cool-8', 'cool-4', '', 'heat-4', 'heat-8'])
    expect(drawn(trajectory, 'column:importanceRatio')).toEqual(['cool-4', '', 'heat-4', 'heat-8', ''])
    expect(drawn(trajectory, 'column:kl')).toEqual(['', 'heat-2', 'heat-4', 'heat-unknown', 'heat-8'])
    expect(drawn(trajectory, 'column:trainerLogprobs')).toEqual(['heat-8', 'heat-4', '', 'heat-4', 'heat-4'])
    expect(drawn(trajectory, 'column:trainerLogprobs', -1)).toEqual(['heat-8', 'heat-8', '', 'heat-8', 'heat-8'])
    expect(drawn(trajectory, 'column:nothing')).toEqual(Array(5).fill('heat-unknown'))
    expect(drawn(trajectory, 'column:advantage', undefined, 0)).toEqual([''])
    expect(words(trajectory, 'column:kl')).toEqual(['kl 0', 'kl 0.5', 'kl 1', 'kl no data', 'kl 2'])
    expect(columnNames(trajectory)).toEqual(Object.keys(columns))
  })

  test('a column with the same value everywhere has a scale too', () => {
    const of = (value: number) =>
      scaleOf(made([response([0, 0], { columns: { x: [value, value] } })]), 'column:x').limit
    expect([of(0), of(1), of(-0.0034), of(12345)]).toEqual([1, 1, 0.0034, 13000])
  })
})

describe('colours of categories', () => {
  test('rank 1 has no colour, a rank beyond k has the warmest, and a token without alternatives has no data', () => {
    const ids = [1, 2, 3, 1, 2, 3, 1, 2, 3, -1, -1, -1]
    const trajectory = made([
      response([0, 0, 0, 0], { ids: [1, 3, 9, 1], topLogprobs: { k: 3, ids, logprobs: ids.map(() => -1) } }),
    ])
    expect(drawn(trajectory, 'rank')).toEqual(['', 'heat-7', 'heat-8', 'heat-unknown'])
    expect(words(trajectory, 'rank')).toEqual(['rank 1', 'rank 3', 'beyond 3', 'rank no data'])
    expect(colouringOf(trajectory, 'rank').scale).toMatchObject({ counts: [1, 0, 1, 1], unknown: 1 })
  })

  test('many ranks share the colours: each rank has one, and later ranks are never cooler', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (k) => {
        const ids = Array.from({ length: k }, (_, index) => index)
        const top = { k, ids: ids.flatMap(() => ids), logprobs: ids.flatMap(() => ids.map(() => -1)) }
        const trajectory = made([
          response(
            ids.map(() => 0),
            { topLogprobs: top },
          ),
        ])
        const levels = drawn(trajectory, 'rank').map((colour) => Number(colour.replace('heat-', '') || 0))
        expect(levels[0]).toBe(0)
        expect(levels.slice(1).every((level, index) => level >= Math.max(3, levels[index] ?? 0) && level < 8)).toBe(
          true,
        )
        const { mode, scale } = colouringOf(trajectory, 'rank')
        expect(scale.kind === 'category' && scale.counts.reduce((a, b) => a + b)).toBe(k)
        expect(mode.kind === 'category' && mode.categories.length).toBeLessThanOrEqual(9)
      }),
    )
  })

  test('mask, span, tool, call, segment and weight version modes name the category of each token', () => {
    expect([0, 1, 2, 3].map((at) => drawn(sample, 'mask', undefined, at))).toEqual([
      ['', '', ''],
      Array(5).fill('mask-on'),
      ['', ''],
      ['mask-on', ''],
    ])
    expect(words(sample, 'span', 1)).toEqual(['special', 'think', 'think', 'call', 'special'])
    expect(words(sample, 'span', 0)).toEqual(['special', 'context', 'special'])
    expect(words(sample, 'span', 3)).toEqual(['text', 'text'])
    expect(words(sample, 'tool', 1)).toEqual([undefined, undefined, undefined, 'malformed', undefined])
    expect(words(sample, 'call', 1)[3]).toBe('call_0001 malformed')
    expect(words(sample, 'segment', 2)).toEqual(['2 tool result', '2 tool result'])
    const versions = made([
      prompt([0]),
      response([0, 0, 0], {
        weightVersions: [
          { version: 'b', start: 0, end: 1 },
          { version: 'a', start: 2, end: 3 },
        ],
      }),
    ])
    expect(words(versions, 'version')).toEqual(['b', 'weight version no data', 'a'])
    expect(drawn(versions, 'version')).toEqual(['tint-1', 'heat-unknown', 'tint-2'])
    expect(drawn(versions, 'version', undefined, 0)).toEqual([''])
  })
})

test('packed columns have the same colours as JSON arrays', () => {
  const { trajectory } = pack(sample)
  for (const name of [
    'mask',
    'logprob',
    'logprobs',
    'probability',
    'rank',
    'entropy',
    'margin',
    'column:entropy',
    'span',
  ])
    for (const at of sample.segments.keys())
      expect(drawn(trajectory, name, undefined, at)).toEqual(drawn(sample, name, undefined, at))
})

test('the colour scale counts an open segment again only when its length has doubled', () => {
  const segments = [response([-1])]
  const grown = (length: number): Coloured => ({
    ...made(segments),
    live: { runningCalls: {}, open: response(Array(length).fill(-9)) },
  })
  const { mode } = colouringOf(grown(1), 'logprob')
  const known = [1, 2, 3, 4, 7, 8].map((length) => {
    const scale = colourScale(grown(length), mode)
    return scale.kind === 'number' && scale.known
  })
  expect(known).toEqual([2, 3, 3, 5, 5, 9])
  expect(colourScale(made(segments), mode)).toMatchObject({ known: 1 })
})

test('the colour menu says what a trajectory lacks for a mode', () => {
  const missing = (trajectory: Coloured) =>
    Object.fromEntries(
      colourGroups(trajectory).flatMap(({ choices }) => choices.map(({ name, missing }) => [name, missing])),
    )
  expect(missing(made([{ kind: 'prompt', ids: [1], messages: [] }]))).toEqual({
    logprobs: 'no logprobs',
    probability: 'no logprobs',
    rank: 'no alternatives',
    entropy: 'no alternatives',
    margin: 'no second alternatives',
    span: undefined,
    tool: 'no calls',
    call: 'no calls',
    segment: undefined,
    version: 'not recorded',
    ratio: 'no trainer logprobs',
    none: undefined,
  })
  expect(missing(sample)).toMatchObject({ rank: undefined, tool: undefined, 'column:entropy': undefined })
})

const withTrainer = withRatios([
  {
    ratios: [1, 2, 0.5, 64, 0.01],
    columns: {
      refLogprobs: [-1, -2, null, -1, -1],
      advantages: [1, -1, 0.5, 0, 0],
      returns: [0, 0, 0, 1, 1],
      values: [0.5, 0.5, 0.5, 0.5, 0.5],
      clipMask: [1, 1, 1, 0, null],
      weightVersion: [1, 1, 2, 2, 2],
      expertAgreement: [1, 1, 0.75, 0, null],
    },
  },
])

test('the importance ratio is coloured by its logarithm: 2 and ½ are equally far from 1, and 8 has the last colour', () => {
  const { levels, words, limit, scale } = colouringOf(withTrainer, 'ratio')
  const segment = elementAt(withTrainer.segments, 1)
  const level = levels(segment)
  expect([0, 1, 2, 3, 4].map(level)).toEqual([0, 2, HEAT_LEVELS + 2, HEAT_LEVELS, 2 * HEAT_LEVELS])
  expect(limit).toBe(3)
  expect(scale).toMatchObject({ kind: 'number', known: 5 })
  expect(words(segment, 1)).toBe('importance ratio 2')
})

test('numbers of the trainer are coloured by the columns that have these roles', () => {
  const said = (name: string) =>
    [0, 1, 2, 3, 4].map((at) => colouringOf(withTrainer, name).words(elementAt(withTrainer.segments, 1), at))
  expect(said('advantage').slice(0, 2)).toEqual(['advantage 1', 'advantage −1'])
  expect(said('reference')[2]).toBe('reference logprob no data')
  expect(said('trainer')[0]).toBe('trainer logprob −8 nats')
  expect(said('clipmask')).toEqual(['used (1)', 'used (1)', 'used (1)', 'left out (0)', undefined])
  expect(said('version')).toEqual(['1', '1', '2', '2', '2'])
})

test('the agreement of experts is coloured from 100 % down, and its menu entry appears only with the column', () => {
  const { levels, words } = colouringOf(withTrainer, 'experts')
  const segment = elementAt(withTrainer.segments, 1)
  const level = levels(segment)
  expect(level(0)).toBe(0)
  expect(level(3)).toBe(HEAT_LEVELS)
  expect(level(2)).toBeGreaterThan(level(1))
  expect(words(segment, 2)).toBe('expert agreement 75 %')
  const names = (trajectory: Trajectory) =>
    colourGroups(trajectory).flatMap(({ choices }) => choices.map(({ name }) => name))
  expect(names(withTrainer)).toContain('experts')
  expect(names(sample)).not.toContain('experts')
})

test('every choice of the colour menu is a mode with the same name, and docs/inspector.md has a row for each', () => {
  const names = colourGroups(withTrainer).flatMap(({ choices }) => choices.map(({ name }) => name))
  expect(names.map((name) => colouringOf(withTrainer, name).mode.name)).toEqual(names)
  const [, section = ''] = readFileSync('docs/inspector.md', 'utf8').split('\n## Colours\n')
  const [table = ''] = section.split('\n## ')
  const cells = Array.from(table.matchAll(/^\| (`[^|]+`) \|/gm), ([, cell = '']) => cell)
  const listed = cells.flatMap((cell) => Array.from(cell.matchAll(/`([\w:]+)`/g), ([, name]) => name))
  const inMenu = names.map((name) => (name.startsWith('column:') ? 'column:NAME' : name))
  expect(new Set(listed)).toEqual(new Set(['mask', 'logprob', ...inMenu]))
})

test('an unknown colour mode is shown as logprob, and the keys switch mask and heat on and off', () => {
  expect(colouringOf(sample, 'nonsense').mode.name).toBe('logprob')
  expect(colouringOf(sample, 'none').palette).toEqual([undefined])
  expect([maskToggled('mask'), maskToggled('logprob')]).toEqual(['none', 'mask'])
  const heat = (name: string) => heatToggled(colouringOf(sample, name).mode)
  expect([heat('logprob'), heat('rank'), heat('none'), heat('mask')]).toEqual(['none', 'none', 'logprob', 'logprob'])
})

test('Folded tokens have the range of the colour that is shown, over trained tokens with a value', () => {
  const trajectory = withRatios([{ ratios: [0.5, 4, 1, 2], mask: [1, 1, 1, 0] }])
  const [question, answer] = trajectory.segments
  if (!question || !answer) throw new Error('no segments')
  const range = (name: string, segment: SegmentView, start: number, end: number) =>
    trajectoryReading(colouringOf(trajectory, name)).range?.(segment, start, end)
  expect(range('ratio', answer, 0, 4)).toBe('importance ratio 0.5 to 4')
  expect(range('ratio', answer, 2, 4)).toBe('importance ratio 1 to 1')
  expect(range('logprob', answer, 0, 2)).toBe('surprisal 8 to 8 nats')
  expect([range('ratio', answer, 3, 4), range('ratio', question, 0, 2), range('mask', answer, 0, 4)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  const again = trajectoryReading(colouringOf(trajectory, 'ratio')).range
  expect(again?.(answer, 0, 4)).toBe(again?.(answer, 0, 4))
})

test('a screen reader reads a logprob as the card shows it: with a true minus, and never as 0 if it is not', () => {
  const trajectory = { ...sample, segments: [response([-0.5, -1.6e-5, null])] }
  const { fact } = trajectoryReading(colouringOf(trajectory, 'logprob'))
  const facts = [0, 1, 2].map((index) => {
    const token = tokenAt(trajectory, index)
    return token && fact(token)
  })
  expect(facts).toEqual(['trained, logprob −0.500', 'trained, logprob −1.6e−5', 'trained, logprob unknown'])
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLevelReader } from './parquet-levels.ts'

type Run = readonly [kind: 'equal', value: number, count: number] | readonly [kind: 'packed', values: readonly number[]]

/** Writes runs as the specification of Parquet describes them. */
function encoded(runs: readonly Run[], width: number): Uint8Array {
  const bytes: number[] = []
  const varint = (value: number) => {
    for (let left = value; ; left = Math.floor(left / 128)) {
      bytes.push(left < 128 ? left : (left % 128) + 128)
      if (left < 128) return
    }
  }
  for (const run of runs)
    if (run[0] === 'equal') {
      varint(run[2] * 2)
      for (let index = 0; index < Math.ceil(width / 8); index++) bytes.push(Math.floor(run[1] / 256 ** index) % 256)
    } else {
      varint((run[1].length / 8) * 2 + 1)
      const bits = run[1].flatMap((value) =>
        Array.from({ length: width }, (_, bit) => Math.floor(value / 2 ** bit) % 2),
      )
      for (let at = 0; at < bits.length; at += 8)
        bytes.push(bits.slice(at, at + 8).reduce((sum, bit, index) => sum + bit * 2 ** index, 0))
    }
  return Uint8Array.from(bytes)
}

const valuesOf = (runs: readonly Run[]): readonly number[] =>
  runs.flatMap((run) => (run[0] === 'equal' ? Array<number>(run[2]).fill(run[1]) : run[1]))

const cases = fc.integer({ min: 1, max: 32 }).chain((width) => {
  const value = fc.integer({ min: 0, max: 2 ** Math.min(width, 31) - 1 })
  const run: fc.Arbitrary<Run> = fc.oneof(
    fc.tuple(fc.constant('equal' as const), value, fc.integer({ min: 1, max: 300 })),
    fc.tuple(
      fc.constant('packed' as const),
      fc
        .integer({ min: 1, max: 3 })
        .chain((groups) => fc.array(value, { minLength: groups * 8, maxLength: groups * 8 })),
    ),
  )
  return fc.record({ width: fc.constant(width), runs: fc.array(run, { minLength: 1, maxLength: 5 }) })
})

test('Runs and groups of any width are read in parts of any length', () => {
  fc.assert(
    fc.property(cases, fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 5 }), ({ width, runs }, lengths) => {
      const expected = valuesOf(runs)
      const reader = createLevelReader(encoded(runs, width), 2 ** width - 1)
      const copy = reader.copy()
      const parts = lengths.reduce<number[]>(
        (read, length) => read.concat(reader.next(Math.min(length, expected.length - read.length))),
        [],
      )
      expect(parts.concat(reader.next(expected.length - parts.length))).toEqual(expected)
      const [first = 0] = expected
      expect(copy.countOther(expected.length, first)).toBe(expected.filter((value) => value !== first).length)
    }),
  )
})

test('Levels without bits are all 0, and others that end early are refused', () => {
  expect(createLevelReader(new Uint8Array(), 0).next(3)).toEqual([0, 0, 0])
  expect(() => createLevelReader(encoded([['equal', 1, 2]], 1), 1).next(3)).toThrow('levels or indexes that end early')
  expect(() => createLevelReader(Uint8Array.from([3, 1]), 15).next(8)).toThrow('levels or indexes that end early')
})

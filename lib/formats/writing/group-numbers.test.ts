import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type GroupedSample, numberSamples } from './group-numbers.ts'

const sample = fc.record({
  id: fc.oneof(fc.constantFrom('4e1f', 'b', '007', '-0', ''), fc.integer({ min: -3, max: 6 }).map(String)),
  index: fc.nat(5),
  file: fc.nat(2),
})
/** Generates samples of any groups of three files in any order; a sample may occur twice, as the paths of a rollout do. */
const samples = fc.array(sample).map((all) => all.map(({ id, index, file }) => ({ id, index, name: `${file} ${id}` })))

/** Returns each sample with its numbers. */
const numbered = (all: readonly GroupedSample[]) =>
  numberSamples(all).map((numbers, at) => ({ ...(all[at] as GroupedSample), numbers }))

test('numberSamples gives samples of one group the same group index and id, and other groups different ones', () => {
  fc.assert(
    fc.property(samples, (all) => {
      for (const a of numbered(all))
        for (const b of numbered(all)) {
          expect(a.numbers?.groupIndex === b.numbers?.groupIndex).toBe(a.name === b.name)
          expect(a.numbers?.groupId === b.numbers?.groupId).toBe(a.name === b.name)
        }
    }),
  )
})

test('numberSamples gives each sample a unique index, and keeps the order of different samples of a group without numbers', () => {
  fc.assert(
    fc.property(samples, (all) => {
      const results = numbered(all)
      expect(new Set(results.map(({ numbers }) => numbers?.index)).size).toBe(all.length)
      const first = results.filter(
        ({ id, index, name }, at) =>
          !/^(0|-?[1-9])$/.test(id) && all.findIndex((other) => other.name === name && other.index === index) === at,
      )
      for (const a of first)
        for (const b of first)
          if (a.name === b.name)
            expect(Math.sign((a.numbers?.index ?? 0) - (b.numbers?.index ?? 0))).toBe(Math.sign(a.index - b.index))
    }),
  )
})

test('numberSamples names the first sample of a rollout on all its paths, and on no other sample', () => {
  fc.assert(
    fc.property(samples, (all) => {
      const results = numbered(all)
      for (const { name, index, numbers } of results) {
        const paths = results.filter((other) => other.name === name && other.index === index)
        expect(numbers?.rollout).toBe(paths.length > 1 ? paths[0]?.numbers?.index : undefined)
      }
    }),
  )
})

test('numberSamples keeps the numbers of a file whose indices are unique, in any order', () => {
  const unique = fc.uniqueArray(fc.record({ id: fc.integer({ min: -3, max: 6 }).map(String), index: fc.nat(30) }), {
    selector: ({ index }) => index,
  })
  fc.assert(
    fc.property(unique, (all) => {
      expect(numberSamples(all)).toEqual(all.map(({ id, index }) => ({ groupIndex: Number(id), index, groupId: id })))
    }),
  )
})

test('numberSamples keeps the numbers of a group from a file next to groups without numbers', () => {
  const read = [8, 9].map((index) => ({ id: '0', index }))
  const [first, second] = [0, 1].map((index) => ({ id: 'e0c5', index }))
  expect(numberSamples([first, undefined, ...read, second])).toEqual([
    { groupIndex: 1, index: 10, groupId: 'e0c5' },
    undefined,
    { groupIndex: 0, index: 8, groupId: '0' },
    { groupIndex: 0, index: 9, groupId: '0' },
    { groupIndex: 1, index: 11, groupId: 'e0c5' },
  ])
})

test('numberSamples numbers a single group from 0 and its samples by their own indices', () => {
  expect(numberSamples([{ id: 'e0c5', index: 3 }])).toEqual([{ groupIndex: 0, index: 3, groupId: 'e0c5' }])
})

test('numberSamples keeps the numbers of the first file, and gives groups of another file with the same ids free ones', () => {
  const ofFile = (name: string) => ['0', 'q'].map((id) => ({ id, index: 0, name: `${name} ${id}` }))
  expect(numberSamples([...ofFile('a'), ...ofFile('b')])).toEqual([
    { groupIndex: 0, index: 0, groupId: '0' },
    { groupIndex: 1, index: 1, groupId: 'q' },
    { groupIndex: 2, index: 2, groupId: '2' },
    { groupIndex: 3, index: 3, groupId: '3' },
  ])
})

test('numberSamples gives the later paths of a rollout an index of their own, and the group index of the rollout', () => {
  const paths = [0, 0, 1].map((index) => ({ id: '4', index }))
  expect(numberSamples(paths).map((numbers) => [numbers?.groupIndex, numbers?.index])).toEqual([
    [4, 0],
    [4, 2],
    [4, 1],
  ])
})

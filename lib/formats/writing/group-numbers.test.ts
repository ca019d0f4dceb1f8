import fc from 'fast-check'
import { expect, test } from 'vitest'
import { numberGroups } from './group-numbers.ts'

const group = fc.record({
  id: fc.oneof(fc.constantFrom('4e1f', 'b', '007', '-0', ''), fc.integer({ min: -3, max: 6 }).map(String)),
  index: fc.nat(5),
})
/** Generates samples of any groups in any order; no sample of a group occurs twice. */
const groups = fc.uniqueArray(group, { selector: ({ id, index }) => `${id} ${index}` })

test('numberGroups gives samples of one group the same group index, and other groups different ones', () => {
  fc.assert(
    fc.property(groups, (all) => {
      const numbers = numberGroups(all)
      for (const a of all)
        for (const b of all) expect(numbers(a).groupIndex === numbers(b).groupIndex).toBe(a.id === b.id)
    }),
  )
})

test('numberGroups gives each sample a unique index and keeps the order within a group', () => {
  fc.assert(
    fc.property(groups, (all) => {
      // Groups from files keep the numbers of their files.
      const named = all.filter(({ id }) => !/^(0|-?[1-9])$/.test(id))
      const numbers = numberGroups(all)
      const indices = named.map((sample) => numbers(sample).index)
      expect(new Set(indices).size).toBe(named.length)
      for (const a of named)
        for (const b of named)
          if (a.id === b.id) expect(Math.sign(numbers(a).index - numbers(b).index)).toBe(Math.sign(a.index - b.index))
    }),
  )
})

test('numberGroups keeps the numbers of a group from a file next to groups without numbers', () => {
  const read = [
    { id: '0', index: 8 },
    { id: '0', index: 9 },
  ]
  const own = [
    { id: 'e0c5', index: 0 },
    { id: 'e0c5', index: 1 },
  ]
  const numbers = numberGroups([own[0], undefined, ...read, own[1]])
  expect(read.map(numbers)).toEqual([
    { groupIndex: 0, index: 8 },
    { groupIndex: 0, index: 9 },
  ])
  expect(own.map(numbers)).toEqual([
    { groupIndex: 1, index: 10 },
    { groupIndex: 1, index: 11 },
  ])
})

test('numberGroups numbers a single group from 0 and its samples by their own indices', () => {
  expect(numberGroups([{ id: 'e0c5', index: 3 }])({ id: 'e0c5', index: 3 })).toEqual({ groupIndex: 0, index: 3 })
})

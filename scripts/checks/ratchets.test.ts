import { expect, test } from 'vitest'
import { countSources, readBounds } from './ratchets.ts'

const present = countSources()
const bounds = readBounds()
const ADVICE = 'Remove as many as you added. Where there are fewer now: node scripts/checks/ratchets.ts --write'

test.each(['itemCasts', 'undocumentedExports', 'blockedNames', 'participleNames'] as const)(
  'there are no more %s than before',
  (kind) => {
    expect(present[kind], ADVICE).toBeLessThanOrEqual(bounds[kind])
  },
)

test('no lint rule is switched off in more places than before', () => {
  const more = Object.entries(present.suppressions).filter(
    ([rule, places]) => places > (bounds.suppressions[rule] ?? 0),
  )
  expect(more, ADVICE).toEqual([])
})

test('no exported name gets a second meaning: several files declare only the listed names', () => {
  const added = present.repeatedNames.filter((name) => !bounds.repeatedNames.includes(name))
  expect(added, 'Give the new declaration a name of its own, or import the existing one.').toEqual([])
  const removed = bounds.repeatedNames.filter((name) => !present.repeatedNames.includes(name))
  expect(removed, 'Shorten the list: node scripts/checks/ratchets.ts --write').toEqual([])
})

test('the ratchets count the sources', () => {
  expect(present.undocumentedExports).toBeGreaterThan(0)
  expect(present.repeatedNames).toContain('serverTokenizer')
  expect(Object.keys(present.suppressions).length).toBeGreaterThan(0)
})

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

test('the ratchets count the sources', () => {
  expect(present.undocumentedExports).toBeGreaterThan(0)
  expect(Object.keys(present.suppressions).length).toBeGreaterThan(0)
})

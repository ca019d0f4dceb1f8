import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../test-runs.ts'
import { side } from './classify/test-sides.ts'
import { compareTrajectories } from './compare.ts'

const weighed = (left: string, right: string) => {
  const { prefix, rows } = compareTrajectories(side(left), side(right)).report
  return `kept ${prefix.kept} lost ${prefix.lost}, ${rows.count} rows, ${rows.extra} extra`
}

describe('what a drift costs', () => {
  const run = 'P p|q R a|b P c R d|e P f R g'

  test('nothing without one', () => {
    expect(weighed(run, run)).toBe('kept 11 lost 0, 1 rows, 0 extra')
    expect(weighed('P p|q R a', 'P p|q R a')).toBe('kept 0 lost 0, 1 rows, 0 extra')
    expect(weighed('P p', 'P p')).toBe('kept 0 lost 0, 1 rows, 0 extra')
    expect(weighed('', '')).toBe('kept 0 lost 0, 1 rows, 0 extra')
  })

  test('a reply that is told otherwise: the cache from there on at every later call, and a row', () => {
    expect(weighed(run, 'P p|q R a|x P c R d|e P f R g')).toBe('kept 6 lost 5, 2 rows, 4 extra')
    expect(weighed(run, 'P p|q R a|b P c R y|e P f R g')).toBe('kept 9 lost 2, 2 rows, 7 extra')
    expect(weighed(run, 'P p|q R x|b P c R d|y P f R g')).toBe('kept 4 lost 7, 3 rows, 11 extra')
  })

  test('the last reply has no later call', () => {
    expect(weighed(run, 'P p|q R a|b P c R d|e P f R x')).toBe('kept 11 lost 0, 1 rows, 0 extra')
  })

  test('a prompt that is told otherwise costs the cache, and no row', () => {
    expect(weighed(run, 'P p|x R a|b P c R d|e P f R g')).toBe('kept 2 lost 9, 1 rows, 0 extra')
  })

  test('the cache serves all ids that are shared, also where the drift is shown from a tag before them on', () => {
    expect(weighed('P p|<s>|a|<s>|b R x P y R z', 'P p|<s>|b R x P y R z')).toBe('kept 2 lost 4, 1 rows, 0 extra')
  })

  test('what the right puts before a reply is the reply’s where it stands in one', () => {
    expect(weighed(run, 'P p|q R x|a|b P c R d|e P f R g')).toBe('kept 4 lost 7, 2 rows, 4 extra')
    expect(weighed(run, 'P p|q|x R a|b P c R d|e P f R g')).toBe('kept 4 lost 7, 1 rows, 0 extra')
  })

  test('a reply without tokens is told as it was', () => {
    expect(weighed('P p R  P x R y', 'P p P z R y')).toBe('kept 1 lost 0, 1 rows, 0 extra')
  })

  test('a drift that begins before a reply and ends in it is the reply’s', () => {
    expect(weighed('P p|q R a|b P c R d', 'P p R x|y|b P c R d')).toBe('kept 1 lost 3, 2 rows, 3 extra')
  })
})

test('kept and lost are what the cache holds; rows are no more than replies', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '<e>'), { maxLength: 5 }).map((tokens) => tokens.join('|'))
  const run = fc
    .array(fc.tuple(text, text), { maxLength: 5 })
    .map((turns) => turns.map(([asked, told]) => `P ${asked} R ${told}`).join(' '))
  fc.assert(
    fc.property(run, run, (one, other) => {
      const left = side(one)
      const { report } = compareTrajectories(left, side(other))
      let [at, held] = [0, 0]
      const ends: number[] = []
      for (const segment of left.segments) {
        at += segment.ids.length
        if (segment.kind === 'response') ends.push(at)
      }
      for (const end of ends.slice(0, -1)) held += end
      expect(report.prefix.kept + report.prefix.lost).toBe(held)
      expect(report.rows.count).toBeGreaterThanOrEqual(1)
      expect(report.rows.count).toBeLessThanOrEqual(Math.max(1, ends.length))
      if (report.rows.count === 1) expect(report.rows.extra).toBe(0)
      if (report.spans.length === 0) expect([report.prefix.lost, report.rows.count]).toEqual([0, 1])
    }),
    { numRuns: runs(300) },
  )
})

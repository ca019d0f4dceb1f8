import { describe, expect, test } from 'vitest'
import { compareTrajectories } from '../compare.ts'
import { side } from './test-sides.ts'

/** Returns `trained turn 0 tool f`: the severity, turn and tool of the only drift. */
const hit = (left: Parameters<typeof side>, right: Parameters<typeof side>): string => {
  const { spans } = compareTrajectories(side(...left), side(...right)).report
  expect(spans).toHaveLength(1)
  return spans
    .map(({ severity, turn, tool }) =>
      [severity, ...(turn === undefined ? [] : [`turn ${turn}`]), ...(tool === undefined ? [] : [`tool ${tool}`])].join(
        ' ',
      ),
    )
    .join()
}
const whom = (left: string, right: string) => hit([left], [right])

describe('the severity of a drift counts', () => {
  test('trained tokens inside of it', () => {
    expect(whom('P p|q R a|b|c', 'P p|q R a|x|c')).toBe('trained turn 0')
    expect(whom('P p R a P q R a|b|c', 'P p R a P q R a|c')).toBe('trained turn 1')
  })

  test('a reply into which something is inserted', () => {
    expect(whom('P p|q R a|c', 'P p|q R a|x|c')).toBe('trained turn 0')
    expect(hit(['P p|q R a|c'], ['P p|q|a|x|c', { unread: true }])).toBe('trained turn 0')
    expect(whom('P p|q R a|<e>', 'P p|q R x|a|<e>')).toBe('trained turn 0')
  })

  test('but not an insertion after a reply or between two', () => {
    expect(whom('P p R a|<e> P q R b', 'P p R a|<e> P x|q R b')).toBe('context')
    expect(whom('P p R a R b', 'P p R a P x R b')).toBe('context')
  })

  test('but not an insertion next to a token that is not trained', () => {
    expect(hit(['P p|q R a|b', { mask: [1, 0] }], ['P p|q|a|x|b'])).toBe('tail turn 0')
    expect(hit(['P p|q R a|b', { mask: [0, 1] }], ['P p|q|a|x|b'])).toBe('context turn 0')
  })

  test('trained tokens after it, or none', () => {
    expect(whom('P p|q|r R a', 'P p|x|r R a')).toBe('context')
    expect(whom('P p R a P q|r|s', 'P p R a P q|x|s')).toBe('tail')
    expect(hit(['P p R a|b|c', { mask: [0, 0, 0] }], ['P p R a|x|c'])).toBe('tail turn 0')
  })

  test('the tool whose call it touches, by name', () => {
    expect(whom('P p R <c>|{"name":|_"f"}|</c>', 'P p R <c>|{"name":|"f"}|</c>')).toBe('trained turn 0 tool f')
    expect(whom('P p R a|<e>', 'P p R a|<c>|{"name":"g"}|</c>|<e>')).toBe('trained turn 0 tool g')
    expect(whom('P p R <c>|{broken|</c>|<e>', 'P p R <e>')).toBe('trained turn 0')
  })
})

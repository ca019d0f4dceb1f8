import { describe, expect, test } from 'vitest'
import { issueSentence } from './sentence.ts'

const sentence = (given: Partial<Parameters<typeof issueSentence>[0]>) =>
  issueSentence({
    replayed: 'rendered',
    rows: { count: 2, extra: 271, realigned: 0 },
    trained: { touched: 12, of: 79 },
    calls: [{ tokens: 5 }, { tokens: 9 }],
    firstRewrite: { turn: 1, line: 37 },
    ...given,
  })

describe('issueSentence', () => {
  test('reports rows, trained tokens and the first position', () => {
    expect(sentence({})).toBe(
      'With this template your trainer sees 2 rows instead of 1; 12 of 79 trained tokens change; first at call 2, template line 37.',
    )
  })

  test('uses the right grammar for one and for none', () => {
    expect(sentence({ rows: { count: 1, extra: 0, realigned: 0 }, trained: { touched: 1, of: 79 } })).toBe(
      'With this template your trainer sees 1 row; 1 of 79 trained tokens changes; first at call 2, template line 37.',
    )
    expect(sentence({ trained: { touched: 1, of: 1 }, firstRewrite: { turn: 2 } })).toBe(
      'With this template your trainer sees 2 rows instead of 1; 1 of 1 trained token changes; first at call 3.',
    )
    const { firstRewrite: _, ...kept } = {
      replayed: 'rendered' as const,
      rows: { count: 1, extra: 0, realigned: 0 },
      trained: { touched: 0, of: 79 },
      calls: [{ tokens: 5 }, { tokens: 9 }],
      firstRewrite: undefined,
    }
    expect(issueSentence(kept)).toBe(
      'With this template your trainer sees 1 row; none of 79 trained tokens changes; every prompt begins with the tokens of the call before.',
    )
    expect(issueSentence({ ...kept, trained: { touched: 0, of: 0 }, calls: [{ tokens: 5 }] })).toBe(
      'With this template your trainer sees 1 row; it has no trained tokens.',
    )
  })

  test('names the source of the prompts, and is undefined for recorded ids', () => {
    expect(sentence({ replayed: 'encoded' })).toMatch(/^With its text encoded again your trainer sees 2 rows/)
    expect(sentence({ replayed: 'read' })).toMatch(/^With the prompts that the server read your trainer sees/)
    expect(sentence({ replayed: 'ids' })).toBeUndefined()
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  choice,
  type GrammarExpression,
  noneOf,
  oneOf,
  optional,
  recursive,
  repeat,
  sequence,
  shared,
  text,
  textWithout,
  toEbnf,
  toRegex,
} from './expression.ts'

const list: GrammarExpression = recursive(() => sequence('[', repeat(list), ']'))

describe('A grammar', () => {
  test.each<[string, GrammarExpression, string, string]>([
    ['a text with signs', text('a"b\\c\n*'), '"a\\"b\\\\c\\n*"', 'a"b\\\\c\\n\\*'],
    ['no text', sequence(), '""', ''],
    ['characters', oneOf(['a', 'z'], '-]é'), '[a-z\\u002d\\u005dé]', '[a-z\\u002d\\u005dé]'],
    ['other characters', noneOf('"'), '[^\\u0022]', '[^\\u0022]'],
    ['options', choice([text('a'), text('b')]), '("a" | "b")', '(?:a|b)'],
    ['repetitions', sequence(repeat(text('a')), repeat(text('b'), 1)), '("a")* ("b")+', '(?:a)*(?:b)+'],
    [
      'numbers of repetitions',
      sequence(repeat(text('a'), 2), repeat(text('b'), 2, 3)),
      '("a"){2,} ("b"){2,3}',
      '(?:a){2,}(?:b){2,3}',
    ],
    ['what may be missing', optional('a'), '("a")?', '(?:a)?'],
  ])('of %s is written as EBNF and as a regular expression', (_, grammar, ebnf, regex) => {
    expect(toEbnf(grammar)).toBe(`root ::= ${ebnf}`)
    expect(toRegex(grammar, 0)).toBe(regex)
  })

  test('that contains itself is a rule of EBNF, and a regular expression of some levels', () => {
    expect(toEbnf(sequence(list, list))).toBe('root ::= r0 r0\nr0 ::= "[" (r0)* "]"')
    const pattern = new RegExp(`^${toRegex(list, 2)}$`)
    expect(['[]', '[[][]]', '[[[]]]'].map((one) => pattern.test(one))).toEqual([true, true, false])
  })

  test('that needs more levels than there are has no regular expression', () => {
    const endless: GrammarExpression = recursive(() => sequence('(', endless, ')'))
    expect(() => toRegex(endless, 5)).toThrow(RangeError)
    expect(() => toRegex(repeat(endless, 1), 5)).toThrow('more than 5 levels')
    expect(toRegex(choice([endless, text('a')]), 5)).toBe('(?:a)')
    expect(() => toRegex(choice([endless, endless]), 5)).toThrow(RangeError)
  })
})

test('A set that is shared is written once in EBNF, and a regular expression has a largest length', () => {
  const doubled = (one: GrammarExpression, times: number): GrammarExpression =>
    times === 0 ? one : doubled(shared(sequence(one, one)), times - 1)
  const large = doubled(text('ab'), 20)
  expect(toEbnf(large).length).toBeLessThan(1000)
  expect(() => toRegex(large, 1)).toThrow('longer than 100000 characters')
  expect(() => toRegex(choice([large, text('a')]), 1)).toThrow(RangeError)
})

describe('A text without words', () => {
  const words = [['</p>', '<p='], ['<x'], ['</｜a', '<｜b']]
  const characters = fc.string({
    unit: fc.constantFrom('<', '/', 'p', '>', '=', 'x', 'a', 'é', '｜', '\n'),
    maxLength: 9,
  })

  test.each(words)('is one that contains none of %s and %s', (...found) => {
    const all = found.filter((word) => word !== undefined)
    const pattern = new RegExp(`^(?:${toRegex(textWithout(all), 0)})$`, 'u')
    const isPlain = (one: string) => !/<\/?[^\0-\x7f]/u.test(one)
    fc.assert(
      fc.property(characters, (one) => {
        const hasWord = all.some((word) => one.includes(word))
        if (hasWord) expect(pattern.test(one)).toBe(false)
        // Where a word continues outside of ASCII, only ASCII may follow its beginning.
        else if (isPlain(one)) expect(pattern.test(one)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

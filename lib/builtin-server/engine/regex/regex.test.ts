/** Compares regular expressions over bytes with JavaScript's own over characters, and the allowed tokens with a trial of each. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Automaton, automatonOf } from './automaton.ts'
import { type CodePointRange, parseRegex } from './syntax.ts'
import { createTokenTrie } from './token-trie.ts'
import { byteSequences } from './utf8.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const read = (automaton: Automaton, bytes: Uint8Array, from = 0): number =>
  bytes.reduce((state, byte) => (state < 0 ? state : automaton.step(state, byte)), from)
const accepts = (automaton: Automaton, text: string): boolean => {
  const state = read(automaton, bytesOf(text))
  return state >= 0 && automaton.isComplete(state)
}

/** Characters of each length in UTF-8, and both ends of some lengths. */
const letter = fc.constantFrom(
  'a',
  'b',
  '-',
  '9',
  ' ',
  '\n',
  'é',
  '߿',
  'ࠀ',
  '日',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '🙂',
  '🙃',
  '\u{10ffff}',
)
const literal = letter.map((one) => (one === '\n' ? '\\n' : one))
const escapes = fc.constantFrom('\\d', '\\w', '\\D', '\\W', '\\x61', '\\u00e9', '\\u{1f642}', '\\ud83d\\ude42')
const classRange = fc
  .tuple(letter, letter)
  .map(([a, b]) => [a, b].sort((x, y) => (x.codePointAt(0) as number) - (y.codePointAt(0) as number)).join('-'))
  .filter((range) => !/^--|--$|\n/.test(range))
const classed = fc
  .tuple(
    fc.constantFrom('', '^'),
    fc.array(
      fc.oneof(
        literal.map((one) => (one === '-' ? '\\-' : one)),
        escapes,
        classRange,
      ),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([sign, members]) => `[${sign}${members.join('')}]`)
const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{0,2}', '{1,}', '*?', '+?', '{1,2}?')
const { pattern } = fc.letrec<{ atom: string; pattern: string }>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 2 },
    literal,
    classed,
    escapes,
    fc.constant('.'),
    tie('pattern').map((inner) => `(${inner})`),
    tie('pattern').map((inner) => `(?:${inner})`),
  ),
  pattern: fc
    .array(
      fc.array(
        fc.tuple(tie('atom'), quantifier).map((both) => both.join('')),
        { maxLength: 3 },
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((options) => options.map((parts) => parts.join('')).join('|')),
}))

/** Returns whether an expression matches any text; some classes contain no characters. */
const hasText = (source: string): boolean => {
  try {
    automatonOf(parseRegex(source))
    return true
  } catch (error) {
    if (error instanceof SyntaxError && error.message.endsWith('it matches no text.')) return false
    throw error
  }
}

const text = fc.array(letter, { maxLength: 4 }).map((letters) => letters.join(''))

test('The regex engine accepts a text if the whole of it matches', () => {
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 8 }), (source, texts) => {
      fc.pre(hasText(source))
      const automaton = automatonOf(parseRegex(source))
      const own = new RegExp(`^(?:${source})$`, 'su')
      for (const one of texts) expect([one, accepts(automaton, one)]).toEqual([one, own.test(one)])
    }),
  )
})

test('The regex engine may drop states that were reached on the way', () => {
  fc.assert(
    fc.property(pattern, text, text, (source, before, after) => {
      fc.pre(hasText(source))
      const automaton = automatonOf(parseRegex(source))
      const state = read(automaton, bytesOf(before))
      fc.pre(state >= 0)
      const rest = automaton.from(state)
      expect(rest.size()).toBeLessThanOrEqual(automaton.size())
      expect(accepts(rest, after)).toBe(accepts(automaton, before + after))
    }),
  )
})

test('The UTF-8 sequences of a range contain the bytes of each of its code points once', () => {
  const point = fc.oneof(
    fc.nat(0x10ffff),
    fc.constantFrom(0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000),
  )
  fc.assert(
    fc.property(point, point, fc.array(point), (a, b, others) => {
      const range: CodePointRange = a < b ? [a, b] : [b, a]
      const sequences = byteSequences(range)
      for (const one of [...range, ...others]) {
        if (one >= 0xd800 && one <= 0xdfff) continue
        const bytes = bytesOf(String.fromCodePoint(one))
        const found = sequences.filter(
          (sequence) =>
            sequence.length === bytes.length &&
            sequence.every(([low, high], index) => low <= (bytes[index] as number) && (bytes[index] as number) <= high),
        )
        expect(found).toHaveLength(one >= range[0] && one <= range[1] ? 1 : 0)
      }
    }),
  )
})

test('The regex engine allows every token whose bytes can be read, including pieces of characters', () => {
  const token = fc.oneof(
    text.map(bytesOf),
    fc.tuple(text, fc.nat(9), fc.nat(9)).map(([own, from, to]) => bytesOf(own).slice(from, from + to)),
  )
  fc.assert(
    fc.property(pattern, text, fc.array(token, { maxLength: 12 }), (source, before, tokens) => {
      fc.pre(hasText(source))
      const automaton = automatonOf(parseRegex(source))
      const state = read(automaton, bytesOf(before))
      fc.pre(state >= 0)
      const marks = createTokenTrie(tokens, new Set([1])).marks(automaton, state)
      const wanted = tokens.map((bytes, id) => (id !== 1 && read(automaton, bytes, state) >= 0 ? 0 : 1))
      expect([...marks]).toEqual(wanted)
    }),
  )
})

describe('The regex parser refuses an invalid expression with its position:', () => {
  test.each([
    ['(a', 'index 2: unterminated group'],
    ['a)', 'index 1: unexpected ")"'],
    ['[a-', 'index 3: unterminated character class'],
    ['[]', 'index 1: empty character class'],
    ['[b-a]', 'index 4: invalid character class range'],
    ['[\\d-z]', 'invalid character class range'],
    ['*', 'index 0: unexpected "*"'],
    ['a{', 'index 2: expected a repetition count'],
    ['a{2', 'index 3: unterminated repetition'],
    ['a{3,2}', 'invalid or excessive repetition'],
    ['a{1001}', 'invalid or excessive repetition'],
    ['a++', 'possessive quantifiers are unsupported'],
    ['\\', 'index 1: trailing escape'],
    ['\\bword', 'index 1: \\b is unsupported'],
    ['(a)\\1', 'index 4: \\1 is unsupported'],
    ['\\p{L}', 'index 1: \\p is unsupported'],
    ['\\u{110000}', 'invalid hexadecimal escape'],
    ['\\xg0', 'invalid hexadecimal escape'],
    ['(?<n>a)', 'only non-capturing special groups are supported'],
    ['[^\\u{0}-\\u{10ffff}]', 'it matches no text'],
    ['(((.{1000}){1000}))', 'it is too large'],
    ['(((a{1,200}){1,200}){1,200}){1,200}', 'it is too large'],
    ['a'.repeat(100_001), 'it is longer than 100000 characters'],
  ])('%s', (source, why) => {
    expect(() => automatonOf(parseRegex(source))).toThrow(why)
  })
})

test('The regex engine follows any character at each of up to 1,000 positions', () => {
  const automaton = automatonOf(parseRegex('(.?){1000}'))
  expect([accepts(automaton, '🙂'.repeat(1000)), accepts(automaton, 'é'.repeat(1001))]).toEqual([true, false])
})

test('The regex engine reads a repeated empty expression as empty', () => {
  const automaton = automatonOf(parseRegex('(((((){1000}){1000}){1000}){1000}){1000}'))
  expect([accepts(automaton, ''), accepts(automaton, 'a')]).toEqual([true, false])
})

test('The regex engine accepts anchors at the ends of an expression', () => {
  expect(accepts(automatonOf(parseRegex('^ab$')), 'ab')).toBe(true)
  expect(accepts(automatonOf(parseRegex('a\\$')), 'a$')).toBe(true)
})

import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '#testing/property-runs.ts'
import { anyText } from '#testing/strings.ts'
import { parseQuery } from './parse-query.ts'
import type { Query, Term } from './query.ts'
import { queryText } from './query-text.ts'

const COLUMNS = ['trainerLogprobs', 'kl ratio', 'rank']

/** Returns the normalized query, or the error with its position. */
function read(text: string): string {
  const parsed = parseQuery(text, COLUMNS)
  switch (parsed.kind) {
    case 'nothing':
      return ''
    case 'query':
      return queryText(parsed.query)
    case 'fault': {
      const { at, message } = parsed.fault
      return `${' '.repeat(at.start)}${'^'.repeat(at.end - at.start)} ${message}`
    }
  }
}

describe('parseQuery reads texts', () => {
  test.each([
    ['loss mask', '"loss mask"'],
    ['Loss mask', '"Loss mask"'],
    ['case:loss', 'case:"loss"'],
    ['"a \\"b\\" \\n \\x"', JSON.stringify('a "b" \n \\x')],
    ['"a" b  c "d"', '"a" "b  c" "d"'],
    ['a|b', '"a|b"'],
    ['a | b c', '"a" or "b c"'],
    ['a or b', '"a" or "b"'],
    ['or', '"or"'],
    ['a or', '"a or"'],
    ['or a', '"or a"'],
    ['this and that', '"this and that"'],
    ['(25 * 17)', '"25 * 17"'],
    ['print(x)', '"print(x)"'],
    ['(print(x) | y)', '"print(x)" or "y"'],
    ['a) b', '"a) b"'],
    ['-a', 'not "a"'],
    ['not a b', 'not "a" "b"'],
    ['-(a | b)', 'not ("a" or "b")'],
    ['not', '"not"'],
    ['not ) b', 'not ")" "b"'],
    ['not a) b', 'not "a)" "b"'],
    ['(case:)', '"case:"'],
    ['(a -case:)', '"a" not "case:"'],
    ['-3 -> --flag', '"-3 -> --flag"'],
    ['<|im_end|>', '"<|im_end|>"'],
    ['a<b', '"a<b"'],
    ['Error: none', '"Error: none"'],
    ['https://example.com', '"https://example.com"'],
    ['std::vector', '"std::vector"'],
    ['12:30', '"12:30"'],
    ['{"role": "user"}', JSON.stringify('{"role": "user"}')],
    ['   ', ''],
  ])('%s as %s', (text, understood) => {
    expect(read(text)).toBe(understood)
  })
})

describe('parseQuery reads regular expressions', () => {
  test.each([
    ['/a b/', '/a b/'],
    ['/a[/]b\\/c/iu d', '/a[/]b\\/c/iu "d"'],
    ['/usr/bin', '"/usr/bin"'],
    ['//', '"//"'],
    ['/abc', '"/abc"'],
    ['(/a/g)', '/a/'],
    ['/(/', '^^^ This is not a regular expression: Unterminated group.'],
    ['/[/', '^^^ This is not a regular expression: Unterminated character class.'],
    ['/[a/b/i c', '^^^^^^^ This is not a regular expression: Unterminated character class.'],
    ['(/[/)', ' ^^^ This is not a regular expression: Unterminated character class.'],
    ['/[/] b', '"/[/] b"'],
    ['/a[/usr', '"/a[/usr"'],
    ['/usr/[a', '"/usr/[a"'],
  ])('%s as %s', (text, understood) => {
    expect(read(text)).toBe(understood)
  })
})

describe('parseQuery reads facts', () => {
  test.each([
    ['id:151645', 'id:151645'],
    ['id:1,2,3', 'id:1,2,3'],
    ['id>=100 id<=200', 'id>=100 id<=200'],
    ['logprob<-3', 'logprob<-3'],
    ['logprob<−3', 'logprob<-3'],
    ['prompt logprob<-3', 'prompt logprob<-3'],
    ['the prompt  p<.1 (prompt rank>1)', '"the" prompt p<0.1 prompt rank>1'],
    ['prompt mask:1', '"prompt" mask:1'],
    ['prompt  logprobs', '"prompt  logprobs"'],
    ['promptly logprob<1', '"promptly" logprob<1'],
    ['p<.1', 'p<0.1'],
    ['p>1e-3', 'p>0.001'],
    ['mask=1', 'mask:1'],
    ['index:100-200,300', 'index:100..200,300'],
    ['logprob:-3..-1', 'logprob:-3..-1'],
    ['trainerLogprobs<-2', 'trainerLogprobs<-2'],
    ['column:"kl ratio">1', 'column:"kl ratio">1'],
    ['column:rank>1', 'column:"rank">1'],
    ['rank>1', 'rank>1'],
    ['kind:prompt|tool', 'kind:"prompt" or kind:"tool"'],
    ['tool:calculator', 'tool:"calculator"'],
    ['tool:"my tool"', 'tool:"my tool"'],
    ['unknown:logprob', 'unknown:"logprob"'],
    ['(mask:1)', 'mask:1'],
  ])('%s as %s', (text, understood) => {
    expect(read(text)).toBe(understood)
  })
})

test.each([
  ['a |', '  ^ Write a search term here.'],
  ['| a', '^ Write a search term here.'],
  ['()', ' ^ Write a search term here.'],
  ['a (b', '  ^ This bracket is not closed.'],
  ['a "b', '  ^^ This quote is not closed.'],
  ['""', '^^ Write a text between the quotes.'],
  ['mask:1 lgprob<-3', '       ^^^^^^ Tokens have no “lgprob”. Did you mean logprob?'],
  ['role:user', '^^^^ Tokens have no “role”.'],
  ['trainerLogprob<1', '^^^^^^^^^^^^^^ Tokens have no “trainerLogprob”. Did you mean trainerLogprobs?'],
  ['logprob<x', '        ^ Expected a number.'],
  ['logprob<', '        ^ Expected a number.'],
  ['mask:', '     ^ Write a number, a range such as 100-200, or several with commas.'],
  ['mask!=1', '      ^ There is no operator !=.'],
  ['id:1,a', '   ^^^ Write consecutive token ids with commas: id:1,2,3.'],
  ['column:"kl"<1', '       ^^^^ There is no column “kl”. Did you mean kl ratio?'],
  ['column:"kl ratio"', '^^^^^^^^^^^^^^^^^ Write <, <=, >, >=, = or : and a number after the column.'],
  ['span:thinks', '     ^^^^^^ The name “thinks” is unknown. Did you mean think?'],
  ['finish:eos', '       ^^^ Write one of stop, length, abort, cancelled, cut, unknown.'],
  ['tool:', '    ^ Write a name: tool:name.'],
  ['tool>3', '    ^^ Write a name: tool:name.'],
  ['tool:"x', '     ^^ This quote is not closed.'],
])('parseQuery reports the position of the error in %s', (text, fault) => {
  expect(read(text)).toBe(fault)
})

const numbers = fc.oneof(fc.integer({ min: -1000, max: 1000 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
const word = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' })
const term: fc.Arbitrary<Term> = fc.oneof(
  fc.record({ text: word, isExact: fc.boolean() }).map(
    ({ text, isExact }): Term => ({
      kind: 'text',
      text,
      isExact: isExact || /\p{Lu}/u.test(text),
    }),
  ),
  fc.constantFrom(/a|b/g, /[/ )]+/giu, /\/x\s/gs).map((pattern): Term => ({ kind: 'pattern', pattern })),
  fc.array(fc.nat(200_000), { minLength: 1, maxLength: 4 }).map((ids): Term => ({ kind: 'ids', ids })),
  fc
    .record({
      number: fc.constantFrom(
        { kind: 'fact', name: 'logprob' } as const,
        { kind: 'fact', name: 'rank' } as const,
        ...COLUMNS.map((name) => ({ kind: 'column', name }) as const),
      ),
      withPrompt: fc.boolean(),
      within: fc.oneof(
        fc.tuple(numbers, fc.boolean(), fc.boolean()).map(([value, isBelow, isOpen]) => [
          {
            low: isBelow ? Number.NEGATIVE_INFINITY : value,
            high: isBelow ? value : Number.POSITIVE_INFINITY,
            without: isOpen ? value : undefined,
          },
        ]),
        fc.array(
          fc
            .tuple(numbers, numbers)
            .map(([a, b]) => ({ low: Math.min(a, b), high: Math.max(a, b), without: undefined })),
          { minLength: 1, maxLength: 3 },
        ),
      ),
    })
    .map(
      ({ withPrompt, ...test }): Term => ({
        kind: 'number',
        ...test,
        ...(withPrompt && test.number.kind === 'fact' && { withPrompt }),
      }),
    ),
  word.map((value): Term => ({ kind: 'name', name: 'tool', value, at: { start: 0, end: 0 } })),
)
const { query } = fc.letrec<{ query: Query }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    term,
    fc.record({
      kind: fc.constantFrom('and', 'or'),
      parts: fc.array(tie('query'), { minLength: 2, maxLength: 3 }),
    }) as fc.Arbitrary<Query>,
    fc.record({ kind: fc.constant('not'), part: tie('query') }) as fc.Arbitrary<Query>,
  ),
}))

test('the normalized form of a query parses to the same query', () => {
  fc.assert(
    fc.property(query, (first) => {
      const parsed = parseQuery(queryText(first), COLUMNS)
      expect(parsed.kind).toBe('query')
      expect(withoutPlaces((parsed as { query: Query }).query)).toEqual(withoutPlaces(first))
    }),
    { numRuns: runs(500) },
  )
})

function withoutPlaces(query: Query): unknown {
  switch (query.kind) {
    case 'and':
    case 'or':
      return { ...query, parts: query.parts.map(withoutPlaces) }
    case 'not':
      return { ...query, part: withoutPlaces(query.part) }
    case 'name':
      return { ...query, at: undefined }
    case 'number':
      // JSON writes −0 as 0.
      return JSON.parse(
        JSON.stringify(query, (_, value) => (Math.abs(value) === Number.POSITIVE_INFINITY ? `${value}` : value)),
      )
    default:
      return query
  }
}

const textsIn = (query: Query): readonly string[] => {
  if ('parts' in query) return query.parts.flatMap(textsIn)
  if (query.kind === 'not') return textsIn(query.part)
  return query.kind === 'text' ? [query.text] : []
}

test('parseQuery reads any text or refuses it with a position, and never throws', () => {
  const fragments = fc.constantFrom(
    ' ',
    '(',
    ')',
    '"',
    '/',
    '|',
    '-',
    'not ',
    ' or ',
    'id:',
    'mask:1',
    'p<',
    'column:',
    'a',
    '\\',
    'case:',
    'tool:',
    '=',
    '!=',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        anyText(),
        fc.array(fragments).map((parts) => parts.join('')),
      ),
      (text) => {
        const parsed = parseQuery(text, COLUMNS)
        // A search for an empty text would never end.
        if (parsed.kind === 'query') expect(textsIn(parsed.query)).not.toContain('')
        if (parsed.kind !== 'fault') return
        const { start, end } = parsed.fault.at
        expect(0 <= start && start <= end && end <= text.length + 1).toBe(true)
      },
    ),
    { numRuns: runs(2000) },
  )
})

test('parseQuery refuses a query that is nested too deeply', () => {
  expect(read('('.repeat(100_000))).toMatch(/nested deeper than 50 levels/)
  expect(read('not '.repeat(100_000))).toMatch(/nested deeper than 50 levels/)
})

test('every example query of docs/find.md parses', () => {
  const [examples = ''] = readFileSync('docs/find.md', 'utf8').split('## Terms')
  const inBlock = examples.matchAll(/^```text\n(.*)\n```$/gm)
  const inTable = examples.matchAll(/^\| `(.*?)` \|/gm)
  const queries = [...inBlock, ...inTable].map(([, query = '']) => query)
  expect(queries.length).toBeGreaterThan(5)
  for (const query of queries) expect([query, parseQuery(query, []).kind]).toEqual([query, 'query'])
})

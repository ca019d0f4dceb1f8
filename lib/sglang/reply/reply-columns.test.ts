import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '#testing/property-runs.ts'
import { recording, recordingNames } from '#testing/sglang/recordings.ts'
import { generateReplySchema } from '../server/schema.ts'
import { columnsIn, readBytes } from './reply-columns.ts'

const bytesOf = (json: string) => Buffer.from(json)

/** Returns the columns that JSON.parse and the schema give. */
function expected(json: string) {
  const value = JSON.parse(json)
  const columns = columnsIn(generateReplySchema.parse(value).meta_info)
  for (const name of Object.keys(value.meta_info))
    if (/^(in|out)put_(token|top)_logprobs$/.test(name)) value.meta_info[name] = null
  return { value, columns }
}

const logprob = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: -20, max: 0, noNaN: true }).map(Math.fround),
  fc.integer({ min: -20, max: 0 }),
  fc.constant(null),
)
const row = fc.tuple(logprob, fc.nat({ max: 200_000 }), fc.constant(null))
const rows = fc.array(row, { maxLength: 12 })
const tops = fc
  .integer({ min: 1, max: 6 })
  .chain((k) =>
    fc.array(fc.oneof({ arbitrary: fc.array(row, { minLength: k, maxLength: k }), weight: 4 }, fc.constant(null))),
  )
  .filter((lists) => lists.length === 0 || lists.some((list) => list !== null))
const meta = fc.record(
  {
    id: fc.string(),
    finish_reason: fc.constant({ type: 'stop', matched: 1 }),
    input_token_logprobs: rows,
    output_token_logprobs: rows,
    input_top_logprobs: tops,
    output_top_logprobs: tops,
    completion_tokens: fc.nat(),
  },
  { requiredKeys: [] },
)

describe('readBytes', () => {
  test('reads replies as SGLang writes them without rows, to the same numbers', () => {
    fc.assert(
      fc.property(fc.string(), meta, (text, drawn) => {
        const json = JSON.stringify({ text, meta_info: drawn })
        // A reply without rows has no columns.
        expect(readBytes(bytesOf(json))).toEqual(expected(json))
      }),
    )
  })

  const scored = fc.tuple(fc.oneof(logprob, fc.string()), fc.oneof(fc.nat(), fc.double(), fc.integer()), fc.jsonValue())
  const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.array(scored), fc.array(fc.array(scored)))
  test('reads replies in another notation to the same numbers or not at all', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('input_token_logprobs', 'output_top_logprobs', 'output_token_logprobs'), odd),
        fc.constantFrom(undefined, 1),
        (drawn, space) => {
          const json = JSON.stringify({ meta_info: drawn }, undefined, space)
          const read = readBytes(bytesOf(json))
          if (read && generateReplySchema.safeParse(JSON.parse(json)).success) expect(read).toEqual(expected(json))
        },
      ),
    )
  })

  const inMeta = (...members: readonly string[]) => bytesOf(`{"text":"x","meta_info":{${members.join(',')}}}`)
  test.each([
    ['a text in a row', inMeta('"output_token_logprobs":[[-1,2,"a"]]')],
    ['spaces before a list', inMeta('"output_token_logprobs": [[-1,2,null]]')],
    ['spaces', inMeta('"output_token_logprobs":[[-1, 2, null]]')],
    ['a number that is none', inMeta('"output_token_logprobs":[[-,2,null]]')],
    ['a number with a zero before it', inMeta('"output_token_logprobs":[[-01,2,null]]')],
    ['a number that ends with its point', inMeta('"output_token_logprobs":[[-1.,2,null]]')],
    ['a number that begins with its point', inMeta('"output_token_logprobs":[[-.5,2,null]]')],
    ['a number with two points', inMeta('"output_token_logprobs":[[-1.5.5,2,null]]')],
    ['a number with an empty exponent', inMeta('"output_token_logprobs":[[-1e-,2,null]]')],
    ['a number with a long exponent', inMeta('"output_token_logprobs":[[-1e-0007,2,null]]')],
    ['a number with a plus', inMeta('"output_token_logprobs":[[+1,2,null]]')],
    ['no number', inMeta('"output_token_logprobs":[[,2,null]]')],
    ['a list in place of a number', inMeta('"output_token_logprobs":[[[1],2,null]]')],
    ['an id with a zero before it', inMeta('"output_token_logprobs":[[-1,02,null]]')],
    ['an id below 0', inMeta('"output_token_logprobs":[[-1,-2,null]]')],
    ['an id that is no whole number', inMeta('"output_token_logprobs":[[-1,2.5,null]]')],
    ['an id of ten digits', inMeta('"output_token_logprobs":[[-1,1234567890,null]]')],
    ['a number that JSON does not have', inMeta('"output_token_logprobs":[[NaN,2,null]]')],
    ['an infinite number', inMeta('"output_top_logprobs":[[[-Infinity,2,null]]]')],
    ['a letter among the digits', inMeta('"output_token_logprobs":[[-0.1234:678,2,null]]')],
    ['a byte outside of ASCII among the digits', inMeta('"output_token_logprobs":[[-0.1234é78,2,null]]')],
    ['an id that no number holds', inMeta('"output_token_logprobs":[[-1,12345678901234567890,null]]')],
    ['no id', inMeta('"output_token_logprobs":[[-1,,null]]')],
    ['a row of two', inMeta('"output_token_logprobs":[[-1,2]]')],
    ['a row of four', inMeta('"output_token_logprobs":[[-1,2,null,3]]')],
    ['a row that is null', inMeta('"output_token_logprobs":[null]')],
    ['a comma too many', inMeta('"output_token_logprobs":[[-1,2,null],]')],
    ['a comma too few', inMeta('"output_token_logprobs":[[-1,2,null][-1,2,null]]')],
    ['the list twice', inMeta('"output_token_logprobs":[[-1,2,null]]', '"output_token_logprobs":[[-3,4,null]]')],
    [
      'the list of something else first',
      inMeta('"other":{"output_token_logprobs":[[-1,2,null]]}', '"output_token_logprobs":[]'),
    ],
    ['the list beside meta_info', bytesOf('{"output_token_logprobs":[[-1,2,null]],"meta_info":{}}')],
    ['lists of alternatives that differ in length', inMeta('"output_top_logprobs":[[[-1,2,null]],[]]')],
    ['alternatives of which none is there', inMeta('"output_top_logprobs":[null]')],
    ['a word in place of alternatives', inMeta('"output_top_logprobs":[nil]')],
    ['alternatives with a comma too few', inMeta('"output_top_logprobs":[[[-1,2,null]][[-1,2,null]]]')],
    ['a reply that breaks off in a row', bytesOf('{"meta_info":{"output_token_logprobs":[[-1,2,nul')],
    ['a reply that breaks off behind a list', bytesOf('{"meta_info":{"output_token_logprobs":[[-1,2,null]]')],
    ['no meta_info', bytesOf('{"text":"x"}')],
    ['no object', bytesOf('[]')],
    ['nothing', bytesOf('')],
  ])('leaves replies with %s to JSON.parse', (_, bytes) => {
    expect(readBytes(bytes)).toBeUndefined()
  })

  test('reads numbers in every notation that JSON has', () => {
    const numbers = [
      '-0',
      '-0.0',
      '-1',
      '-12.50',
      '-1E-5',
      '-1e-05',
      '-1.5e+2',
      '-1e30',
      '-1e400',
      '-0.1234567890123456789',
      '-123456789012345678901',
    ]
    const rows = numbers.map((number) => `[${number},1,null]`)
    const read = readBytes(inMeta(`"output_token_logprobs":[${rows.join(',')}]`))
    expect(read?.columns.output?.logprobs).toEqual(numbers.map(Number))
  })

  test('reads any number of JSON as JSON.parse does', () => {
    const digits = (most: number) =>
      fc.array(fc.oneof({ arbitrary: fc.constant('0'), weight: 2 }, fc.constantFrom(...'123456789')), {
        maxLength: most,
      })
    const whole = digits(12).map((list) => list.join('').replace(/^0+/, '') || '0')
    const fraction = fc.option(
      digits(24).map((list) => `.${list.join('')}5`),
      { nil: '' },
    )
    const exponent = fc.oneof(
      { arbitrary: fc.constant(''), weight: 3 },
      fc
        .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.nat({ max: 400 }))
        .map((parts) => parts.join('')),
    )
    const number = fc.tuple(fc.constantFrom('-', ''), whole, fraction, exponent).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(number, { minLength: 1 }), (numbers) => {
        const rows = `[${numbers.map((each) => `[${each},1,null]`).join(',')}]`
        const read = readBytes(inMeta(`"output_token_logprobs":${rows}`, `"output_top_logprobs":[${rows}]`))
        const values = numbers.map((each) => JSON.parse(each))
        expect(read?.columns.output?.logprobs).toEqual(values)
        expect(read?.columns.outputTop?.logprobs).toEqual(values)
      }),
      { numRuns: runs(500) },
    )
  })

  test('reads more rows than fit into the first cells', () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => `[${index % 7 === 0 ? null : -index / 8},${index},null]`)
    const json = `{"meta_info":{"output_token_logprobs":[${rows.join(',')}],"output_top_logprobs":[null,[${rows.join(',')}]]}}`
    expect(readBytes(bytesOf(json))).toEqual(expected(json))
  })

  test('leaves a reply that breaks off at any byte to JSON.parse', () => {
    const json = inMeta(
      '"output_token_logprobs":[[-1.5,20,null],[null,3,null]]',
      '"output_top_logprobs":[null,[[-1,2,null]]]',
    )
    expect(readBytes(json)).toBeDefined()
    const read = Array.from({ length: json.length - 1 }, (_, end) => readBytes(json.subarray(0, end)))
    expect(read.filter((reply) => reply !== undefined)).toEqual([])
  })

  test('refuses rows that one long row makes too long', () => {
    const long = `[${Array.from({ length: 10_000 }, () => '[-1,2,null]').join(',')}]`
    const nulls = Array.from({ length: 10_000 }, () => 'null').join(',')
    for (const lists of [`${nulls},${long}`, `${long},${nulls}`]) {
      const bytes = inMeta(`"output_top_logprobs":[${lists}]`)
      expect(readBytes(bytes)).toBeUndefined()
      expect(() => columnsIn(generateReplySchema.parse(JSON.parse(bytes.toString())).meta_info)).toThrow(
        'up to 10000 alternatives for each of 10001 tokens',
      )
    }
  })

  test('ignores such lists inside a text', () => {
    const text = '"output_token_logprobs":[[-1,2,null]] "meta_info":{"input_token_logprobs":['
    const json = JSON.stringify({ text, meta_info: { output_token_logprobs: [[-1, 2, null]] } })
    expect(readBytes(bytesOf(json))).toEqual(expected(json))
  })

  test('reads the replies of the real server', () => {
    const replies = recordingNames
      .map((name) => recording(name).response)
      .filter((value) => generateReplySchema.safeParse(value).success)
      .map((value) => JSON.stringify(value))
    const withRows = replies.filter((json) => /_logprobs":\[\[/.test(json) && !/,\d+,"/.test(json))
    expect(withRows.length).toBeGreaterThan(5)
    for (const json of withRows) expect(readBytes(bytesOf(json))).toEqual(expected(json))
  })
})

import { describe, expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { minimaxM3 } from './minimax-m3.ts'

const MARK = ']<]minimax[>['
const element = (name: string, ...parts: readonly string[]) => `${MARK}<${name}>${parts.join('')}${MARK}</${name}>`
const call = (name: string, ...parts: readonly string[]) =>
  `${MARK}<invoke name="${name}">${parts.join('')}${MARK}</invoke>\n`
const section = (...calls: readonly string[]) => `${MARK}<tool_call>\n${calls.join('')}${MARK}</tool_call>`
/** Omits positions, which the tags make long. */
const drawn = (text: string, properties?: object, more: object = {}) =>
  describeCalls(
    parseText(minimaxM3, text, properties ? [{ name: 'f', inputSchema: { properties, ...more } }] : []),
  ).map((line) => line.replace(/ @\d+$/, ''))

describe('minimax-m3 parser with a well-formed call', () => {
  test('returns its name, arguments and positions', () => {
    const text = `So.${section(call('add', element('a', '25'), element('why', ' é\n42 ')))}`
    const [parsed] = parseText(minimaxM3, text)
    expect(parsed).toMatchObject({ kind: 'parsed', name: 'add', input: { a: 25, why: ' é\n42 ' } })
    if (parsed?.kind !== 'parsed') throw new Error('malformed')
    expect(textInRange(text, parsed.nameText)).toBe('add')
    expect(parsed.arguments.map(({ key, text: range }) => [textInRange(text, key), textInRange(text, range)])).toEqual([
      ['a', '25'],
      ['why', ' é\n42 '],
    ])
    expect(textWithoutCalls(text, [parsed], [], minimaxM3).trim()).toBe('So.')
  })

  test('reads nested lists and objects, with and without a schema', () => {
    const list = element('a', element('item', '1'), element('item', element('k', 'x'), '\n', element('l', 'true')))
    expect(drawn(section(call('f', list)))).toEqual(['f({"a":[1,{"k":"x","l":true}]})'])
    const item = { type: 'object', properties: { k: { type: 'string' }, l: { type: 'string' } } }
    const typed = element('a', element('item', element('k', '7'), element('l', 'true')))
    expect(drawn(section(call('f', typed)), { a: { type: 'array', items: item } })).toEqual([
      'f({"a":[{"k":"7","l":"true"}]})',
    ])
    expect(drawn(section(call('f', element('a', element('item', '1')))), { a: { type: 'object' } })).toEqual([
      'f({"a":{"item":1}})',
    ])
  })

  test('follows the references of a schema', () => {
    const text = section(call('f', element('a', element('k', element('k', '7')))))
    const string = { type: 'string' }
    expect(
      drawn(
        text,
        { a: { $ref: '#/$defs/Node' } },
        { $defs: { Node: { type: 'object', properties: { k: { anyOf: [{ $ref: '#/$defs/Node' }, string] } } } } },
      ),
    ).toEqual(['f({"a":{"k":{"k":"7"}}})'])
    expect(
      drawn(text, { a: { allOf: [{ type: 'object' }, { additionalProperties: { additionalProperties: string } }] } }),
    ).toEqual(['f({"a":{"k":{"k":"7"}}})'])
    expect(
      drawn(
        text,
        { a: { $ref: '#/$defs/Node' } },
        { $defs: { Node: { type: 'object', anyOf: [{ $ref: '#/$defs/Node' }] } } },
      ),
    ).toEqual(['f({"a":{"k":{"k":7}}})'])
  })

  test('types an empty value by the schema', () => {
    const text = section(call('f', element('a')))
    expect(drawn(text)).toEqual(['f({"a":""})'])
    expect(drawn(text, { a: { type: 'array' } })).toEqual(['f({"a":[]})'])
    expect(drawn(text, { a: { type: 'object' } })).toEqual(['f({"a":{}})'])
    expect(drawn(text, { a: { type: ['string', 'object'] } })).toEqual(['f({"a":""})'])
    expect(drawn(text, { a: { type: 'integer' } })[0]).toMatch(/^✗ "a" is not of type integer/)
  })

  test('ignores calls in a think block', () => {
    expect(drawn(`<mm:think>${section(call('f'))}</mm:think>${section(call('g'))}`)).toEqual(['g({})'])
  })
})

describe('minimax-m3 parser with a malformed call', () => {
  test.each([
    [call('f').replace(' name="f"', ''), `${MARK}<invoke is not followed by name="…">`],
    [call(' '), 'the call has no name'],
    [call('f', 'x'), `"x" where an element or ${MARK}</invoke> is expected`],
    [call('f', element('a b', '1')), `"]" where an element or ${MARK}</invoke> is expected`],
    [call('f', element('a', 'x', element('k', '1'))), `"x" where an element or ${MARK}</a> is expected`],
    [call('f', `${MARK}<a>1`), 'the value of "a" is not closed'],
    [call('f', element('a', `${MARK}<k>1`)), 'the value of "k" is not closed'],
    [call('f', element('a', '1'), element('a', '2')), '"a" is given twice'],
    [call('f', element('a', element('k', '1'), element('k', '2'))), '"a" has "k" twice'],
    [call('f', element('a', element('b', element('k', '1'), element('k', '2')))), '"a" has "b", which has "k" twice'],
    [`${MARK}<invoke name="f">`, `"]" where an element or ${MARK}</invoke> is expected`],
  ])('reports the reason for %s', (body, why) => {
    expect(drawn(section(body))).toEqual([`✗ ${why}`])
    expect(drawn(section(body, call('g'))).at(-1)).toBe('g({})')
  })

  test('reports values that do not match their types at any depth', () => {
    const nested = element('a', element('k', 'x'))
    const properties = { k: { type: 'integer' } }
    expect(drawn(section(call('f', nested)), { a: { type: 'object', properties } })[0]).toMatch(
      /^✗ "a" has "k", which is not of type integer/,
    )
    expect(drawn(section(call('f', nested)), { a: { type: ['array', 'string'] } })).toEqual([
      '✗ "a" is not of type array or string',
    ])
  })

  test('requires a closed section and a closing tag', () => {
    expect(drawn(call('f'))).toEqual([`✗ the call is in no section: ${section().split('\n')[0]} is missing`])
    expect(drawn(`${MARK}<invoke name="f">${MARK}<a>1`)).toEqual(['✗ the value of "a" is not closed'])
    expect(drawn(section(call('f')).replace(`${MARK}</tool_call>`, ''))[0]).toMatch(/^✗ the section is not closed/)
  })

  test('refuses elements that are nested deeper than 128 levels', () => {
    const deep = `${MARK}<a>`.repeat(200) + `${MARK}</a>`.repeat(200)
    expect(drawn(section(call('f', deep)))).toEqual(['✗ nested deeper than 128 levels'])
  })
})

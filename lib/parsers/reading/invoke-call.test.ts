/**
 * Tests of calls as `<invoke name="…">` with `<parameter name="…">`, which several formats write with their own tags
 * and sections.
 */
import { describe, expect, test } from 'vitest'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { minimaxM2 } from '../tags/minimax-m2.ts'
import { muse } from '../tags/muse.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { textWithoutCalls } from './rest.ts'

describe.each([
  { format: 'MiniMax M2', parser: minimaxM2, tag: '', BEGIN: '<minimax:tool_call>', END: '</minimax:tool_call>' },
  { format: 'Muse Glimmer', parser: muse, tag: 'atem:', BEGIN: '<atem:function_calls>', END: '</atem:function_calls>' },
])('$format parser', ({ parser, tag, BEGIN, END }) => {
  const parameter = (name: string, value: string) => `<${tag}parameter name="${name}">${value}</${tag}parameter>\n`
  const call = (name: string, ...parameters: readonly string[]) =>
    `<${tag}invoke name="${name}">\n${parameters.join('')}</${tag}invoke>\n`
  const section = (...calls: readonly string[]) => `${BEGIN}\n${calls.join('')}${END}`
  const drawn = (text: string, tools: readonly ToolSpec[] = []) => describeCalls(parseText(parser, text, tools))
  /** Omits positions, which the delimiters make long. */
  const reasons = (text: string) => drawn(text).map((line) => line.replace(/ @\d+$/, ''))

  describe('with a well-formed call', () => {
    test('returns its name, arguments and positions', () => {
      const text = `So. ${section(call('add', parameter('a', '25'), parameter('why', ' é\n💡 ')))} done`
      const calls = parseText(parser, text)
      const [parsed] = calls
      expect(parsed).toMatchObject({ kind: 'parsed', name: 'add', input: { a: 25, why: ' é\n💡 ' } })
      if (parsed?.kind !== 'parsed') throw new Error('malformed')
      expect(textInRange(text, parsed.nameText)).toBe('add')
      expect(parsed.arguments.map(({ key, text: r }) => [textInRange(text, key), textInRange(text, r)])).toEqual([
        ['a', '25'],
        ['why', ' é\n💡 '],
      ])
      expect(textWithoutCalls(text, calls, [], parser)).toBe('So. \n\n done')
    })

    test('types values by the tool’s schema and trims names', () => {
      const tools = [{ name: 'f', inputSchema: { properties: { a: { type: 'string' }, b: { type: 'integer' } } } }]
      expect(drawn(section(call(' f ', parameter(' a ', '42'), parameter('b', '42'))), tools)).toEqual([
        'f({"a":"42","b":42})',
      ])
    })

    test('keeps a value that contains the beginning of a tag of a parameter', () => {
      const code = `if a <${tag}parameter\tb: </${tag}param <${tag}parameters name="x">`
      expect(drawn(section(call('f', parameter('a', code), parameter('b', '2'))))).toEqual([
        `f(${JSON.stringify({ a: code, b: 2 })})`,
      ])
    })

    test('returns calls in order, in several sections, and ignores calls in a think block', () => {
      const text = `<think>${section(call('x'))}</think>${section(call('f'), call('g'))} and ${section(call('h'))}`
      expect(drawn(text)).toEqual(['f({})', 'g({})', 'h({})'])
    })
  })

  describe('with a malformed call', () => {
    const or = `<${tag}parameter or </${tag}invoke>`
    test.each([
      [`<${tag}invoke>\n</${tag}invoke>`, `<${tag}invoke is not followed by name="…">`],
      [call(' '), 'the call has no name'],
      [call('f', 'text'), `"t" where ${or} is expected`],
      [call('f', `<${tag}parameter>1</${tag}parameter>`), `<${tag}parameter is not followed by name="…">`],
      [call('f', parameter(' ', '1')), `<${tag}parameter is not followed by name="…">`],
      [call('f', `<${tag}parameter name="a">1`), 'the value of "a" is not closed'],
      [call('f', `<${tag}parameter name="a">1`, parameter('b', '2')), 'the value of "a" is not closed'],
      [call('f', parameter('a', '1'), parameter('a', '2')), '"a" is given twice'],
      [`<${tag}invoke name="f">`, `"<" where ${or} is expected`],
    ])('reports the reason and position for %s', (body, why) => {
      expect(reasons(section(body))).toEqual([`✗ ${why}`])
      expect(reasons(section(body, call('g'))).at(-1)).toBe('g({})')
    })

    test('requires a closed section', () => {
      expect(reasons(call('f'))).toEqual([`✗ the call is in no section: ${BEGIN} is missing`])
      expect(reasons(BEGIN + call('f'))).toEqual([`✗ the section is not closed: no ${END} follows`])
    })
  })
})

test('muse parser separates the frames of messages from the text', () => {
  const section = '<atem:function_calls>\n<atem:invoke name="f">\n</atem:invoke>\n</atem:function_calls>'
  const calls = `<|start|>assistant to=f<|message|>${section}<|eom|>`
  const text = ` to=user<|message|>Hi.<|eom|>${calls}<|start|>assistant to=user<|message|>Bye.<|eot|>`
  expect(textWithoutCalls(text, parseText(muse, text), [], muse).replaceAll('\n', '')).toBe('Hi.Bye.')
})

test('muse parser reads the doubled name of a tool without a namespace', () => {
  const written = (name: string) =>
    `<atem:function_calls><atem:invoke name="${name}"><atem:parameter name="a">25</atem:parameter></atem:invoke></atem:function_calls>`
  const parsed = (name: string, ...tools: readonly string[]) =>
    parseText(
      muse,
      written(name),
      tools.map((tool) => ({ name: tool, inputSchema: { properties: { a: { type: 'string' } } } })),
    )
  expect(describeCalls(parsed('add.add', 'add'))).toEqual(['add({"a":"25"})'])
  expect(describeCalls(parsed('add.add', 'add', 'add.add'))).toEqual(['add.add({"a":"25"})'])
  expect(describeCalls(parsed('math.add', 'add'))).toEqual(['math.add({"a":25})'])
  const [call] = parsed('add.add', 'add')
  if (call?.kind !== 'parsed') throw new Error('malformed')
  expect(textInRange(written('add.add'), call.nameText)).toBe('add.add')
})

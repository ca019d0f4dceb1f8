import { describe, expect, test } from 'vitest'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { parseText } from '../test-draw.ts'
import { k2Horizon } from './k2-horizon.ts'

const tools: readonly ToolSpec[] = [
  { name: 'f', inputSchema: { type: 'object', properties: { text: { type: 'string' }, count: { type: 'integer' } } } },
]
const argument = (key: string, value: string, type = '') =>
  `<ifm|arg_key>${key}</ifm|arg_key>${type && `<ifm|arg_type>${type}</ifm|arg_type>`}<ifm|arg_value>${value}</ifm|arg_value>`
const call = (...written: readonly string[]) => `<ifm|tool_call>f${written.join('')}</ifm|tool_call>`
const read = (text: string) =>
  parseText(k2Horizon, text, tools).map((one) => (one.kind === 'parsed' ? one.input : one.why))

describe('k2_horizon parser', () => {
  test('types a value by the schema, else by the type that the call writes, else as JSON', () => {
    expect(read(call(argument('text', '7', 'integer'), argument('count', '7', 'string')))).toEqual([
      { text: '7', count: 7 },
    ])
    expect(
      read(call(argument('x', '7', 'string'), argument('y', '7', 'integer'), argument('z', '[1]', 'any'))),
    ).toEqual([{ x: '7', y: 7, z: '[1]' }])
    expect(read(call(argument('x', '7'), argument('y', '7', 'other'), argument('z', 'seven', 'integer')))).toEqual([
      expect.stringContaining('"z" is not of type integer'),
    ])
    expect(read(call(argument('x', '7'), argument('y', '7', 'other')))).toEqual([{ x: 7, y: 7 }])
  })

  test('refuses a type that is not closed', () => {
    const open = argument('x', '7', 'string').replace('</ifm|arg_type>', '')
    expect(read(call(open))).toEqual([expect.stringContaining('</ifm|arg_type> is expected')])
  })

  test('reads calls as JSON objects, in a section or in a text without one', () => {
    const json = '<ifm|tool_call>\n{"name": "f", "arguments": {"x": "7"}}\n</ifm|tool_call>'
    expect(read(`<ifm|tool_calls>${json}\n${json}</ifm|tool_calls>`)).toEqual([{ x: '7' }, { x: '7' }])
    expect(read(json)).toEqual([{ x: '7' }])
    expect(read(`${json}<ifm|tool_calls>${json}</ifm|tool_calls>`)).toEqual([
      'the call is in no section: <ifm|tool_calls> is missing',
      { x: '7' },
    ])
  })
})

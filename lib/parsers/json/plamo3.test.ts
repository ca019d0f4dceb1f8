import { describe, expect, test } from 'vitest'
import { describeCalls, parseText } from '../test-draw.ts'
import { plamo3 } from './plamo3.ts'

const tag = (name: string): string => `<|plamo:${name}:plamo|>`
const request = (name: string, json: string): string =>
  `${tag('begin_tool_request')}${tag('begin_tool_name')}${name}${tag('end_tool_name')}${tag('begin_tool_arguments')}<|plamo:constrain|>json<|plamo:msg|>${json}${tag('end_tool_arguments')}${tag('end_tool_request')}`
const section = (...requests: readonly string[]): string =>
  `${tag('begin_tool_requests')}${requests.join('')}${tag('end_tool_requests')}`

describe('The parser of PLaMo 3', () => {
  test('reads several calls, and keeps the good one after a malformed one', () => {
    const text = section(request('add', '{"a": 7}'), request('add', '[7]'), request('stop', '{}'))
    const reasons = describeCalls(parseText(plamo3, `Hi.${text}`)).map((line) => line.replace(/ @\d+$/, ''))
    expect(reasons[0]).toBe('add({"a":7})')
    expect(reasons[1]).toMatch(/^✗ what follows the name is not a JSON object/)
    expect(reasons[2]).toBe('stop({})')
  })

  test('allows tags in arguments, and requires a section', () => {
    const text = request('add', `{"a": "${tag('end_tool_request')}"}`)
    expect(describeCalls(parseText(plamo3, section(text)))).toEqual([`add({"a":"${tag('end_tool_request')}"})`])
    expect(describeCalls(parseText(plamo3, text))).toEqual([
      `✗ the call is in no section: ${tag('begin_tool_requests')} is missing @0`,
    ])
  })
})

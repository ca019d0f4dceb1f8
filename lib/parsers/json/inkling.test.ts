import { describe, expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText } from '../test-draw.ts'
import { thinkBlocks, thinkDelimitersIn, thoughtIn } from '../thinking.ts'
import { inkling } from './inkling.ts'

const call = (json: string, author = 'add') =>
  `<|message_model|>${author}<|content_invoke_tool_json|>${json}<|end_message|>`

describe('The parser of Inkling', () => {
  test('reads calls, and leaves the texts of the messages', () => {
    const text = `<|content_text|>I add.<|end_message|>${call('{"name": "add", "args": {"a": 7}}')}${call('{"name": "add"}')}<|message_model|><|content_text|> Done.<|end_message|><|content_model_end_sampling|>`
    const calls = parseText(inkling, text)
    expect(describeCalls(calls)).toEqual(['add({"a":7})', 'add({})'])
    expect(textWithoutCalls(text, calls, [], inkling)).toBe('I add. Done.')
  })

  test('keeps the good call after a malformed one', () => {
    const calls = parseText(inkling, call('{"name": "add", "args": [7]}') + call('{"name": "add", "args": {}}'))
    expect(describeCalls(calls)).toEqual(['✗ "args" is not a JSON object @72', 'add({})'])
  })

  test('ignores calls in thinking, which ends with its message', () => {
    const thinking = `<|content_thinking|>Perhaps ${call('{"name": "draft"}').replace('<|end_message|>', '')}<|end_message|>`
    const text = `<|message_model|>${thinking}${call('{"name": "add", "args": {}}')}`
    const blocks = thinkBlocks(text, thinkDelimitersIn(text), false, inkling.delimiters)
    expect(describeCalls(inkling.parse(text, blocks, []))).toEqual(['add({})'])
    const [block] = blocks
    expect(thoughtIn(text.slice(block?.start, block?.end))).toMatch(/^Perhaps /)
  })
})

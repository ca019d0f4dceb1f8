import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { decode } from '#lib/trajectory/format/codec.ts'
import { responseText } from '#lib/trajectory/messages/conversation.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import { completionsIn } from './completions-file.ts'

const texts = (file: string) => completionsIn(file).completions.map(({ text }) => text)

test('JSON lines of completions may be strings, objects with many field names, and conversations with a last reply', () => {
  const file = [
    '"a\\nb"',
    '{"prompt": "p", "completion": "b"}',
    '{"response": "c"}',
    '{"messages": [{"role": "assistant", "content": "x"}, {"role": "assistant", "content": "d"}, {"role": "user", "content": "y"}]}',
    '{"choices": [{"message": {"content": "e"}}]}',
    '{"nothing": 1}',
    '{cut',
    '',
  ].join('\n')
  expect(texts(file)).toEqual(['a\nb', 'b', 'c', 'd', 'e'])
  expect(completionsIn(file).skipped).toBe(2)
  expect(completionsIn(file).completions.map(({ from }) => from)[3]).toBe('line 4')
})

test('a file of completions may be a JSON list, one object, plain lines or empty', () => {
  expect(texts('["a", {"output": "b"}]')).toEqual(['a', 'b'])
  expect(texts('{"generated_text": "<tool_call>"}')).toEqual(['<tool_call>'])
  expect(texts('\uFEFFfirst\r\n\r\n<tool_call>{"a": 1}</tool_call>\r\n')).toEqual([
    'first',
    '<tool_call>{"a": 1}</tool_call>',
  ])
  expect(completionsIn('')).toEqual({ completions: [], skipped: 0 })
})

test('every example file has its responses, with the sampled ids, as completions, alone and as JSON lines', () => {
  const folder = new URL('../../../public/examples/', import.meta.url)
  let responses = 0
  const lines: string[] = []
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
    const file = readFileSync(new URL(name, folder), 'utf8')
    const decoded = decode(file)
    if (!decoded.ok) throw new Error(name)
    const { trajectory } = decoded
    const expected = segmentsOf(trajectory).flatMap((segment) =>
      segment.kind === 'response' ? [responseText(segment, trajectory)] : [],
    )
    expect(texts(file)).toEqual(expected)
    for (const { text, encoding } of completionsIn(file).completions) {
      expect(encoding?.starts.length).toBe((encoding?.ids.length ?? 0) + 1)
      expect(encoding?.starts.at(-1)).toBe(text.length)
    }
    responses += expected.length
    lines.push(JSON.stringify(JSON.parse(file)))
  }
  expect(responses).toBeGreaterThan(5)
  expect(texts(lines.join('\n'))).toHaveLength(responses)
})

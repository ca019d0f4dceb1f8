import { expect, test } from 'vitest'
import { parserNamed } from '#lib/parsers/registry.ts'
import { recording, recordingNames } from '#testing/sglang/recordings.ts'
import { analyse } from './analysis.ts'
import { type ServerAnswer, serverView } from './server-view.ts'
import { toolsIn } from './tools.ts'

interface Body {
  readonly text: string
  readonly tools: unknown
  readonly tool_call_parser: string
}

/** Returns how SGLang 0.5.23's own answer to a recorded text compares with ours. */
function recorded(name: string) {
  const { request, response } = recording(name)
  const { text, tools, tool_call_parser: parser } = request.body as unknown as Body
  const { normal_text: normalText, calls } = response as {
    normal_text: string
    calls: { name: string; parameters: string }[]
  }
  return viewOf(text, parser === 'qwen3_coder' ? 'qwen_xml' : 'hermes', JSON.stringify(tools), {
    normalText,
    calls: calls.map(({ name: called, parameters }) => ({ name: called, arguments: parameters })),
  })
}

function viewOf(text: string, name: string, tools: string, answer: ServerAnswer) {
  const parser = parserNamed(name)
  if (!parser) throw new Error(name)
  const { calls, dropped } = serverView(text, analyse(text, parser, toolsIn(tools)), answer)
  return {
    calls: calls.map(({ verdict }) => verdict),
    dropped: dropped.map(({ start, end }) => text.slice(start, end)),
  }
}

test('the server view of the recordings has the calls that SGLang reads like Rollscope, and what it drops', () => {
  expect(recordingNames.filter((name) => name.startsWith('info-parse-function-call'))).toHaveLength(5)
  expect(recorded('info-parse-function-call')).toEqual({ calls: ['same'], dropped: [] })
  expect(recorded('info-parse-function-call-two')).toEqual({ calls: ['same', 'same'], dropped: [] })
  expect(recorded('info-parse-function-call-qwen3-coder')).toEqual({ calls: ['same'], dropped: [] })
  expect(recorded('info-parse-function-call-bad-json').dropped).toEqual([
    '<tool_call>\n{"name": "calculator", "arguments": {"expression": "12 * 7"}\n</tool_call>',
  ])
  expect(recorded('info-parse-function-call-unknown-tool').dropped).toEqual([
    '<tool_call>\n{"name": "nosuch", "arguments": {}}\n</tool_call>',
  ])
})

test('the server view has text that the server leaves out, and calls with other arguments', () => {
  const call = (a: string) => `<tool_call>{"name": "f", "arguments": {"b": 1, "a": ${a}}}</tool_call>`
  const text = `before ${call('1')} between ${call('2')} behind`
  const answer = {
    normalText: 'before',
    calls: [
      { name: 'f', arguments: '{"a": 1, "b": 1}' },
      { name: 'f', arguments: '{"a": "2", "b": 1}' },
      { name: 'g', arguments: 'cut' },
    ],
  }
  expect(viewOf(text, 'hermes', '', answer)).toEqual({
    calls: ['same', 'other', 'server-only'],
    dropped: ['between', 'behind'],
  })
})

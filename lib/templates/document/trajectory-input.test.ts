import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import { trajectoryInput } from './trajectory-input.ts'

const example = (name: string) => {
  const decoded = decodeValue(JSON.parse(readFileSync(`public/examples/${name}.json`, 'utf8')))
  if (!decoded.ok) throw new Error(name)
  return decoded.trajectory
}

test('a trajectory opens with the messages, tools, options and template with which it was made', () => {
  const trajectory = example('parallel-calls')
  const { messages = '', tools = '', options = '', ...rest } = trajectoryInput(trajectory, 'k')
  expect(rest).toMatchObject({
    source: { kind: 'trajectory', key: 'k' },
    trajectory: 'k',
    template: trajectory.model.template?.text,
    tokenizer: 'built-in',
  })
  expect(JSON.parse(options)).toEqual({ add_generation_prompt: false, enable_thinking: true })
  expect(JSON.parse(tools)).toMatchObject([{ type: 'function', function: { name: 'calculator' } }])
  const told = JSON.parse(messages)
  expect(told.map(({ role }: { readonly role: string }) => role).join(' ')).toBe(
    'user assistant tool tool assistant user assistant tool assistant',
  )
  expect(told[1]).toMatchObject({
    reasoning_content: expect.not.stringContaining('think>'),
    tool_calls: [
      { function: { name: 'calculator', arguments: { expression: '12 * 31' } } },
      { function: { name: 'calculator', arguments: { expression: '144 / 16' } } },
    ],
  })
  expect(told[2]).toEqual({ role: 'tool', tool_call_id: told[1].tool_calls[0].id, content: '372' })
  expect(told[4].content).not.toContain('think>')
})

test('the messages of a trajectory keep the model’s spelling of arguments', () => {
  const trajectory = example('two-steps')
  const raw = '\n{"name": "calculator", "arguments": {"x": 1.0, "y": 1e3}}\n'
  const spelled = {
    ...trajectory,
    segments: trajectory.segments.map((segment) =>
      segment.kind === 'response'
        ? { ...segment, toolCalls: segment.toolCalls.map((call) => ({ ...call, raw })) }
        : segment,
    ),
  }
  expect(trajectoryInput(spelled, 'k').messages).toContain('"arguments": {"x": 1.0, "y": 1e3}')
})

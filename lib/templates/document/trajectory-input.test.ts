import { expect, test } from 'vitest'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { trajectoryInput, withRecorded } from './trajectory-input.ts'

test('a trajectory opens with the messages, tools, options and template with which it was made', () => {
  const trajectory = exampleTrajectory('parallel-calls')
  const { messages = '', tools = '', options = '', ...rest } = trajectoryInput(trajectory, 'k')
  expect(rest).toMatchObject({
    source: { kind: 'trajectory', key: 'k' },
    trajectory: 'k',
    template: trajectory.model.template?.text,
    tokenizer: 'built-in',
  })
  expect(JSON.parse(options)).toEqual({ add_generation_prompt: false, enable_thinking: true })
  expect(JSON.parse(tools)).toMatchObject([{ type: 'function', function: { name: 'calculator' } }])
  const written = JSON.parse(messages)
  expect(written.map(({ role }: { readonly role: string }) => role).join(' ')).toBe(
    'user assistant tool tool assistant user assistant tool assistant',
  )
  expect(written[1]).toMatchObject({
    reasoning_content: expect.not.stringContaining('think>'),
    tool_calls: [
      { function: { name: 'calculator', arguments: { expression: '12 * 31' } } },
      { function: { name: 'calculator', arguments: { expression: '144 / 16' } } },
    ],
  })
  expect(written[2]).toEqual({ role: 'tool', tool_call_id: written[1].tool_calls[0].id, content: '372' })
  expect(written[4].content).not.toContain('think>')
})

test('the messages of a file whose replies no parser has read are those of the file', () => {
  const { segments, ...trajectory } = exampleTrajectory('two-steps')
  const { tokenizer: _, parser: __, ...model } = trajectory.model
  const called = { id: 'c', type: 'function', function: { name: 'calculator', arguments: '{"x": 1.0}' } }
  const message = { role: 'assistant', content: '', reasoning: 'hm', tool_calls: [called] }
  const replies = segments.map((segment) =>
    segment.kind === 'response' ? { ...segment, thinks: [], toolCalls: [], message } : segment,
  )
  const { messages = '' } = trajectoryInput({ ...trajectory, model, segments: replies }, 'k')
  expect(JSON.parse(messages)[1]).toEqual({
    role: 'assistant',
    content: '',
    reasoning_content: 'hm',
    tool_calls: [{ ...called, function: { name: 'calculator', arguments: { x: 1 } } }],
  })
  expect(messages).toContain('"arguments": {"x": 1.0}')
})

test('the messages of a trajectory keep the model’s spelling of arguments', () => {
  const trajectory = exampleTrajectory('two-steps')
  const raw = '\n{"name": "calculator", "arguments": {"x": 1.0, "y": 1e3}}\n'
  const input = { x: 1, y: 1000 }
  const spelled = {
    ...trajectory,
    segments: trajectory.segments.map((segment) =>
      segment.kind === 'response'
        ? { ...segment, toolCalls: segment.toolCalls.map((call) => ({ ...call, raw, input })) }
        : segment,
    ),
  }
  expect(trajectoryInput(spelled, 'k').messages).toContain('"arguments": {"x": 1.0, "y": 1e3}')
})

test('empty texts of the lab are filled with the recorded ones, and options override them', () => {
  const trajectory = exampleTrajectory('parallel-calls')
  const recorded = trajectoryInput(trajectory, trajectory.id)
  expect(withRecorded({ messages: ' ', tools: '', options: '{}' }, trajectory)).toEqual({
    messages: recorded.messages,
    tools: recorded.tools,
    options: recorded.options,
  })
  const own = withRecorded({ messages: '[1]', tools: '[2]', options: '{"enable_thinking": false}' }, trajectory)
  expect([own.messages, own.tools]).toEqual(['[1]', '[2]'])
  expect(JSON.parse(own.options)).toEqual({ add_generation_prompt: false, enable_thinking: false })
})

test('a trajectory without a template, a tokenizer or tools opens without them', () => {
  const trajectory = exampleTrajectory('two-steps')
  const { template: _, tokenizer: __, ...model } = trajectory.model
  const loaded = trajectoryInput({ ...trajectory, model: { ...model, tools: [] } }, 'k')
  expect(loaded).toMatchObject({ source: undefined, tools: '', options: '{\n  "add_generation_prompt": false\n}' })
  expect('template' in loaded || 'tokenizer' in loaded).toBe(false)
  const ofServer = { ...trajectory.model, tokenizer: { name: 'served', source: 'server' as const } }
  expect('tokenizer' in trajectoryInput({ ...trajectory, model: ofServer as typeof trajectory.model }, 'k')).toBe(false)
})

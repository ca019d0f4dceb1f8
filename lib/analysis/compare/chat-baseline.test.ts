import { expect, test } from 'vitest'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { baselineRequest, whyNotGreedy } from './chat-baseline.ts'

const run = exampleTrajectory('two-steps')
const sampledWith = (samplingParams: Readonly<Record<string, unknown>>, more: object = {}): Trajectory => ({
  ...run,
  segments: run.segments.map((segment) =>
    segment.kind === 'response' && segment.request
      ? { ...segment, request: { ...segment.request, samplingParams, ...more } }
      : segment,
  ),
})

test('baselineRequest repeats the first request of the run, over messages', () => {
  const [prompt, response] = run.segments as [Trajectory['segments'][0], ResponseSegment]
  expect(baselineRequest(run)).toEqual({
    ok: true,
    value: {
      endpoint: 'chat',
      messages: prompt.kind === 'prompt' && prompt.messages,
      tools: ['calculator'],
      sampling: response.request?.samplingParams,
      server: response.request?.server,
      templateOptions: run.model.template?.options,
      parser: 'hermes',
      tokenizer: run.model.tokenizer?.name,
      ...(run.provenance.kind === 'rollout' && run.provenance.limits && { limits: run.provenance.limits }),
    },
  })
})

test('baselineRequest includes mocks, and the server as tokenizer', () => {
  const mock = { reply: { kind: 'canned', text: 'x' } } as const
  const tool = { name: 'f', inputSchema: {}, mock }
  const tokenizer = { name: 'there', source: 'server' as const, specialIds: [] }
  const { parser: _, template: __, ...model } = run.model
  const asked = baselineRequest({
    ...run,
    model: { ...model, tools: [tool, { ...tool, description: 'd' }], tokenizer },
    provenance: { kind: 'rollout', application: 'x', limits: { maxTokens: 9 } },
  })
  expect(asked).toMatchObject({
    value: {
      tools: [tool, { ...tool, description: 'd' }],
      tokenizer: 'server',
      limits: { maxTokens: 9 },
      templateOptions: {},
    },
  })
})

test('baselineRequest keeps the LoRA adapter, and parameters without a name in Rollscope as further ones', () => {
  expect(baselineRequest(sampledWith({ temperature: 0, new_one: 1 }, { adapter: 'math' }))).toMatchObject({
    value: { adapter: 'math', sampling: { temperature: 0, further: { new_one: 1 } } },
  })
})

test('baselineRequest reports why there is no chat baseline', () => {
  const [prompt, ...others] = run.segments as [Trajectory['segments'][0], ...Trajectory['segments']]
  expect(baselineRequest({ ...run, segments: [] })).toMatchObject({ why: expect.stringContaining('messages') })
  expect(baselineRequest({ ...run, segments: others })).toMatchObject({ ok: false })
  expect(baselineRequest({ ...run, segments: [prompt] })).toMatchObject({ hint: expect.stringContaining('playground') })
  expect(baselineRequest(sampledWith({}, { endpoint: 'chat' }))).toMatchObject({
    why: expect.stringContaining('already'),
  })
})

test('only greedy runs are compared token by token with their chat baseline', () => {
  expect(whyNotGreedy(sampledWith({ temperature: 0 }))).toBeUndefined()
  expect(whyNotGreedy(sampledWith({ temperature: 0.7, top_k: 1 }))).toBeUndefined()
  expect(whyNotGreedy(sampledWith({ temperature: 0.7 }))).toContain('temperature 0.7:')
  expect(whyNotGreedy(sampledWith({}))).toContain('temperature 1:')
  expect(whyNotGreedy({ ...run, segments: [] })).toBe('Nothing was sampled.')
  const [prompt, response] = run.segments as [Trajectory['segments'][0], ResponseSegment]
  const { request: _, ...bare } = response
  const resumed = sampledWith({ temperature: 0 }).segments.map((segment) =>
    segment.kind === 'response' && segment.request
      ? { ...segment, resumed: [{ at: 1, request: { ...segment.request, samplingParams: { temperature: 0.7 } } }] }
      : segment,
  )
  expect(whyNotGreedy({ ...run, segments: resumed })).toContain('temperature 0.7:')
  expect(whyNotGreedy({ ...run, segments: [prompt, bare] })).toBe('The sampling parameters are unknown.')
})

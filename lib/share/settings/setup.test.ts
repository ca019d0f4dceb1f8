import { describe, expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { DEFAULT_SETUP, openingOf, type Setup, setupOf } from './setup.ts'
import { requestOf } from './setup-request.ts'
import { setupFrom, setupSchema } from './setup-schema.ts'

const request = (changes: Partial<Setup> = {}) => requestOf({ ...DEFAULT_SETUP, ...changes })

test('The default setup has the defaults of its schema', () => {
  expect(DEFAULT_SETUP).toEqual(setupSchema.parse({}))
})

test('the default setup requests a run with the calculator', () => {
  expect(request()).toEqual({
    ok: true,
    settings: {
      sampling: { temperature: 0.7, top_p: 1, max_new_tokens: 512 },
      limits: { maxToolIterations: 5, maxTokens: 4096 },
      topLogprobs: 5,
      promptLogprobs: false,
      stream: true,
    },
    opening: { system: 'You are a helpful assistant.', tools: ['calculator'], templateOptions: {} },
    samples: 1,
  })
})

test('requestOf returns all servers of a setup once, and refuses further ones beside the default server', () => {
  expect(request({ server: 'a', furtherServers: ['b', 'a'] })).toMatchObject({ servers: ['a', 'b'] })
  expect(request({ server: 'a' })).not.toHaveProperty('servers')
  expect(request({ furtherServers: ['b'] })).toMatchObject({
    errors: { furtherServers: expect.stringContaining('by name') },
  })
})

test('requestOf returns samples and their reward rule, or the errors of these fields', () => {
  const reward = { ...DEFAULT_SETUP.reward, kind: 'number', expected: '434' } as const
  expect(request({ samples: '8', reward })).toMatchObject({ samples: 8, reward: { kind: 'number', expected: 434 } })
  expect(request({ samples: '65', reward: { ...reward, expected: 'x' } })).toMatchObject({
    ok: false,
    errors: { samples: expect.stringContaining('64'), reward: expect.stringContaining('number') },
  })
})

test('requestOf leaves out empty fields', () => {
  expect(
    request({
      system: ' ',
      sampling: { ...DEFAULT_SETUP.sampling, temperature: '', max_new_tokens: '' },
      topLogprobs: '',
    }),
  ).toMatchObject({ ok: true, settings: { sampling: { top_p: 1 } }, opening: {} })
  const answer = request({ system: ' ' })
  expect(answer.ok && answer.opening).not.toHaveProperty('system')
})

test('requestOf includes a chosen server, tokenizer, stop texts and options', () => {
  expect(
    request({
      server: 's',
      tokenizer: ' Qwen/Qwen3-4B ',
      chatTemplate: '{{ messages }}',
      parser: 'glm',
      thinking: false,
      templateOptions: '{"x": 1}',
      sampling: { ...DEFAULT_SETUP.sampling, stop: 'a\n\nb', top_k: '-1', sampling_seed: '7' },
    }),
  ).toMatchObject({
    settings: { server: 's', sampling: { stop: ['a', 'b'], top_k: -1, sampling_seed: 7 } },
    opening: {
      tokenizer: 'Qwen/Qwen3-4B',
      chatTemplate: '{{ messages }}',
      parser: 'glm',
      templateOptions: { enable_thinking: false, x: 1 },
    },
  })
})

test('requestOf includes sampling parameters as typed, also unknown ones', () => {
  const sampling = {
    ...DEFAULT_SETUP.sampling,
    stop_token_ids: '7 8',
    logit_bias: '5: -1',
    ignore_eos: 'true',
    json_schema: '{"type": "object"}',
    further: '{"new_one": 1}',
  }
  const answer = request({ sampling })
  expect(answer.ok && answer.settings).toMatchObject({
    sampling: {
      stop_token_ids: [7, 8],
      logit_bias: { 5: -1 },
      ignore_eos: true,
      json_schema: '{"type": "object"}',
      further: { new_one: 1 },
    },
  })
})

test('the request of a chat baseline has no chat template, because the server renders', () => {
  const answer = request({ endpoint: 'chat', chatTemplate: '{{ messages }}' })
  expect(answer.ok && answer.opening).toMatchObject({ endpoint: 'chat' })
  expect(answer.ok && answer.opening).not.toHaveProperty('chatTemplate')
  const provenance = { kind: 'rollout', application: 'x', endpoint: 'chat' } as const
  expect(setupOf({ ...sampleTrajectory, provenance }, DEFAULT_SETUP).endpoint).toBe('chat')
  expect(setupOf(sampleTrajectory, { ...DEFAULT_SETUP, endpoint: 'chat' }).endpoint).toBe('generate')
})

describe('requestOf reports a value out of range at its field', () => {
  test.each<[Partial<Setup['sampling']>, string, string]>([
    [{ temperature: 'hot' }, 'temperature', 'must be a number'],
    [{ temperature: '-1' }, 'temperature', 'must be a number from 0 to 100'],
    [{ top_p: '0' }, 'top_p', 'must be a number above 0'],
    [{ top_k: '0' }, 'top_k', 'must be a whole number from 1, or -1'],
    [{ max_new_tokens: '1.5' }, 'max_new_tokens', 'whole number'],
    [{ min_new_tokens: '600' }, 'min_new_tokens', 'at most max_new_tokens, 512'],
    [{ regex: 'a', json_schema: '{}' }, 'regex', 'must be empty, because json_schema is set'],
    [{ further: '[1]' }, 'further', 'must be a JSON object'],
    [{ further: '{"n": 4}' }, 'further', 'must have no n: Rollscope sets it'],
  ])('for sampling parameters %j', (sampling, field, words) => {
    const answer = request({ sampling: { ...DEFAULT_SETUP.sampling, ...sampling } })
    expect(!answer.ok && answer.errors[field]).toContain(words)
  })

  test.each(['[]', 'x', 'null', '{'])('for template options %s', (templateOptions) => {
    const answer = request({ templateOptions })
    expect(!answer.ok && answer.errors.templateOptions).toContain('JSON object')
  })
})

const weather = {
  name: 'weather',
  inputSchema: { type: 'object' },
  mock: { reply: { kind: 'canned', text: 'Sunny.' } },
} as const

test('requestOf includes a chosen mock tool with its definition, also in place of a built-in tool of that name', () => {
  const mockTools = [weather, { ...weather, name: 'calculator' }, { ...weather, name: 'unused' }]
  const answer = request({ tools: ['calculator', 'weather', 'search'], mockTools })
  expect(answer).toMatchObject({ opening: { tools: [mockTools[1], weather, 'search'] } })
})

test('setupFrom keeps mock tools, and drops them if one cannot be read', () => {
  expect(setupFrom(JSON.parse(JSON.stringify({ mockTools: [weather], system: 's' })))).toMatchObject({
    mockTools: [weather],
    system: 's',
  })
  expect(setupFrom({ mockTools: [{ name: 'weather', run: 'code' }], system: 's' })).toMatchObject({
    mockTools: [],
    system: 's',
  })
})

test('the setup of an open trajectory shows its mock tools', () => {
  const { model } = sampleTrajectory
  const shown = setupOf({ ...sampleTrajectory, model: { ...model, tools: [weather] } }, DEFAULT_SETUP)
  expect(shown).toMatchObject({ tools: ['weather'], mockTools: [weather] })
})

test('requestOf includes the tool timeout with the other limits', () => {
  const limits = { ...DEFAULT_SETUP.limits, toolTimeoutMs: '250' }
  expect(request({ limits })).toMatchObject({ settings: { limits: { toolTimeoutMs: 250 } } })
})

test('the setup of an open trajectory has the fields that its first turn fixed', () => {
  const shown = setupOf(sampleTrajectory, { ...DEFAULT_SETUP, server: 'mine' })
  expect(shown).toMatchObject({ server: 'mine', sampling: DEFAULT_SETUP.sampling })
  expect(openingOf(shown)).toEqual({
    endpoint: 'generate',
    system: 'be',
    tools: ['add'],
    mockTools: [],
    mcpTools: [],
    parser: 'hermes',
    thinking: true,
    templateOptions: '',
    tokenizer: 'bytes',
    chatTemplate: '',
  })
  const { model } = sampleTrajectory
  const options = { enable_thinking: false, date_string: '1 Jan' }
  const bare = { ...sampleTrajectory, segments: [], model: { ...model, template: { text: '', options } } }
  expect(setupOf(bare, DEFAULT_SETUP)).toMatchObject({
    system: '',
    thinking: false,
    templateOptions: '{"date_string":"1 Jan"}',
  })
})

test('the setup of an open trajectory shows that the server was its tokenizer', () => {
  const { model } = sampleTrajectory
  const tokenizer = { name: '/models/qwen', source: 'server', specialIds: [] } as const
  expect(setupOf({ ...sampleTrajectory, model: { ...model, tokenizer } }, DEFAULT_SETUP).tokenizer).toBe('server')
})

describe('a remembered setup', () => {
  test('is used unchanged', () => {
    const setup: Setup = { ...DEFAULT_SETUP, system: 'Be short.', tools: [], stream: false }
    expect(setupFrom(JSON.parse(JSON.stringify(setup)))).toEqual(setup)
  })

  test('of an earlier version gets defaults for missing fields', () => {
    expect(setupFrom({ system: 'x', sampling: { temperature: '0' }, gone: 1 })).toEqual({
      ...DEFAULT_SETUP,
      system: 'x',
      sampling: { ...DEFAULT_SETUP.sampling, temperature: '0' },
    })
  })

  test('loses only the fields that cannot be read', () => {
    expect(setupFrom({ system: 'x', tools: 'calculator', limits: { maxTokens: 4096 } })).toEqual({
      ...DEFAULT_SETUP,
      system: 'x',
    })
    for (const value of [undefined, null, 7, 'x', []]) expect(setupFrom(value)).toEqual(DEFAULT_SETUP)
  })
})

test('requestOf sends the LoRA adapter with every turn, and none if the field is empty', () => {
  expect(request({ adapter: ' math ' })).toMatchObject({ ok: true, settings: { adapter: 'math' } })
  const none = request({ adapter: ' ' })
  expect(none.ok && none.settings).not.toHaveProperty('adapter')
})

test('requestOf requests routed experts if they are chosen, and never from a chat endpoint', () => {
  expect(request({ routedExperts: true })).toMatchObject({ settings: { routedExperts: true } })
  for (const none of [request(), request({ routedExperts: true, endpoint: 'chat' })])
    expect(none.ok && none.settings).not.toHaveProperty('routedExperts')
})

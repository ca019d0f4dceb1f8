import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServerDescription } from '#lib/api/server-status.ts'
import { createTestModel, PROMPT, testClient } from '#lib/builtin-server/test-model.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { toRegex } from '#lib/parsers/grammar/expression.ts'
import { forcedCalls } from '#lib/parsers/grammar/forced-calls.ts'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { qwenXml } from '#lib/parsers/tags/qwen-xml.ts'
import type { ProtocolName } from '#lib/session/call.ts'
import { protocols } from '#lib/session/protocols/protocol.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { says } from '#testing/scripted-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import type { Services } from '../services.ts'
import { send, sessionServices } from './test-session-server.ts'

const CAPABILITIES: NonNullable<ServerDescription['capabilities']> = {
  engine: 'sglang',
  logprobs: 'processed',
  promptLogprobs: true,
  streaming: true,
  abort: true,
  chatIds: true,
  images: false,
  adapters: false,
  routedExperts: false,
  parsers: true,
}
let services: Services
let requests: GenerateRequest[]
let template: string
let capabilities: typeof CAPABILITIES

beforeEach(() => {
  requests = []
  template = chatml
  capabilities = CAPABILITIES
  services = sessionServices(folderOfTest(), {
    template: () => template,
    describe: async () => ({
      kind: 'server',
      modelName: 'bytes',
      contextLength: 4096,
      incrementalStreaming: true,
      capabilities,
    }),
    generate(request) {
      requests.push(request)
      return says('<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>')
    },
  })
})
afterEach(() => services.store.close())

const parameters = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }

/** Bodies of each protocol with two tools and these choices: any call, and one of `add`. */
const BODIES: Readonly<Record<ProtocolName, { readonly body: object; readonly any: unknown; readonly add: unknown }>> =
  {
    chat: {
      body: {
        messages: [{ role: 'user', content: 'Add.' }],
        tools: ['add', 'sub'].map((name) => ({ type: 'function', function: { name, parameters } })),
      },
      any: 'required',
      add: { type: 'function', function: { name: 'add' } },
    },
    messages: {
      body: {
        max_tokens: 99,
        messages: [{ role: 'user', content: 'Add.' }],
        tools: ['add', 'sub'].map((name) => ({ name, input_schema: parameters })),
      },
      any: { type: 'any' },
      add: { type: 'tool', name: 'add' },
    },
    responses: {
      body: {
        input: 'Add.',
        tools: ['add', 'sub'].map((name) => ({ type: 'function', name, parameters })),
      },
      any: 'required',
      add: { type: 'function', name: 'add' },
    },
  }

async function ask(name: ProtocolName, choice: 'any' | 'add', settings: object = {}, more: object = {}) {
  const created = await send('POST', '/sessions', settings)
  const { session_id: id } = (await created.json()) as { session_id: string }
  const { body, ...choices } = BODIES[name]
  return send('POST', `/sessions/${id}${protocols[name].path}`, {
    model: 'm',
    tool_choice: choices[choice],
    ...body,
    ...more,
  })
}

describe('A forced call', () => {
  test.each(['chat', 'messages', 'responses'] as const)('of %s is a grammar of the format', async (name) => {
    const response = await ask(name, 'any')
    expect(response.status, await response.clone().text()).toBe(200)
    expect(await response.text()).toContain('add')
    const grammar = String(requests[0]?.sampling.ebnf)
    expect(grammar).toContain('"<tool_call>\\n"')
    expect(grammar).toContain('\\"add\\"')
    expect(grammar).toContain('\\"sub\\"')
    await ask(name, 'add')
    expect(requests[1]?.sampling.ebnf).toContain('\\"add\\"')
    expect(requests[1]?.sampling.ebnf).not.toContain('\\"sub\\"')
  })

  test('is recorded with its grammar, and its tokens are sampled ones', async () => {
    await ask('chat', 'add')
    const { rows } = services.store.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 1 })
    expect(services.store.get(rows[0]?.key ?? '')?.segments.at(-1)).toMatchObject({
      kind: 'response',
      request: { samplingParams: { ebnf: requests[0]?.sampling.ebnf } },
      toolCalls: [{ kind: 'parsed', name: 'add', input: { a: 1 } }],
    })
  })

  test('closes the think block in which the prompt ends', async () => {
    // Without a switch for thinking, as in templates of models that always think.
    template = chatml.replace(/'<\|im_start\|>assistant.*$/, "'<|im_start|>assistant\\n<think>\\n' -}}{%- endif -%}")
    await ask('chat', 'any')
    expect(requests[0]?.sampling.ebnf).toContain('"</think>"')
  })

  test('has one call if the client wants no parallel calls', async () => {
    await ask('chat', 'any')
    await ask('chat', 'any', {}, { parallel_tool_calls: false })
    expect(requests.map(({ sampling }) => String(sampling.ebnf).split('\n')[0])).toEqual([
      'root ::= r0 ("\\n" r0)*',
      'root ::= r0',
    ])
  })

  test.each([
    ['a parser without a grammar', { parser: 'gpt-oss' }, 'sglang', 'the parser gpt-oss'],
    ['an engine without grammars', {}, 'openai', 'the server has no grammars'],
  ] as const)('is refused by name for %s', async (_, settings, engine, words) => {
    capabilities = { ...CAPABILITIES, engine }
    const response = await ask('chat', 'any', settings)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { param: 'tool_choice', message: expect.stringContaining(words) },
    })
  })
})

describe('The built-in server', () => {
  const model = createTestModel()
  afterAll(() => model.close())
  const { generate } = testClient(model)
  const tools = ['add', 'sub'].map((name) => ({ name, inputSchema: parameters }))

  test.each([hermes, qwenXml])('writes a call of the parser $name within its grammar', async (parser) => {
    const grammar = forcedCalls(parser.name, { tools, mayRepeat: false, template: '', closeThink: undefined })
    const { text } = await generate({
      input_ids: PROMPT,
      sampling_params: { regex: toRegex(grammar ?? expect.fail('no grammar'), 3), max_new_tokens: 200, temperature: 1 },
    })
    expect(parser.parse(text, [], tools)).toMatchObject([{ kind: 'parsed', input: { a: expect.any(Number) } }])
  })
})

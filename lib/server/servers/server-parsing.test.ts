import { expect, onTestFinished, test } from 'vitest'
import { serverParsingSchema } from '#lib/api/server-parsing.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import { type Recording, recording, replay } from '#testing/sglang/recordings.ts'
import { serverParsing, serverParsingRequestSchema } from './server-parsing.ts'

const never = new AbortController().signal
const modelInfo = recording('info-get_model_info')

async function against(recordings: Readonly<Record<string, Recording>>) {
  const server = await replay(recordings)
  const client: EngineClient = createClient({
    baseUrl: server.baseUrl,
    apiKey: undefined,
    retry: { repetitions: 0 },
  })
  onTestFinished(() => server.close())
  onTestFinished(() => client.close())
  const ask = async (request: unknown) => {
    const answer = await serverParsing(client, serverParsingRequestSchema.parse(request), never)
    expect(serverParsingSchema.parse(answer)).toEqual(answer)
    return answer
  }
  return { ask, requests: server.requests }
}

test('Server parsing returns the answers of both parsers under the names of the server, with the lab’s tools', async () => {
  const { ask, requests } = await against({
    '/model_info': modelInfo,
    '/parse_function_call': recording('info-parse-function-call'),
    '/separate_reasoning': recording('info-separate-reasoning'),
  })
  const tools = [{ name: 'calculator', description: 'd', inputSchema: { type: 'object' } }]
  expect(await ask({ text: 'x', tools })).toEqual({
    toolCalls: {
      state: 'answered',
      parser: 'qwen',
      normalText: 'Let me see.',
      calls: [{ name: 'calculator', arguments: '{"expression": "12 * 7"}' }],
    },
    reasoning: { state: 'answered', parser: 'qwen3', reasoning: '\nhmm\n', text: '\n\n84' },
  })
  expect(requests.find(({ path }) => path === '/parse_function_call')?.body).toEqual({
    text: 'x',
    tools: [{ type: 'function', function: { name: 'calculator', description: 'd', parameters: { type: 'object' } } }],
    tool_call_parser: 'qwen',
  })
})

test('Server parsing returns an answer without calls for a text whose call the server drops silently', async () => {
  const { ask } = await against({ '/parse_function_call': recording('info-parse-function-call-bad-json') })
  expect(await ask({ text: 'x', toolCallParser: 'qwen25', reasoningParser: 'qwen3' })).toEqual({
    toolCalls: { state: 'answered', parser: 'qwen25', normalText: '', calls: [] },
    reasoning: { state: 'absent' },
  })
})

test('Server parsing accepts a server without the endpoints, and requests our parser if the server names none', async () => {
  const nameless = { ...modelInfo, response: { model_path: 'm' } }
  const { ask, requests } = await against({ '/model_info': nameless })
  expect(await ask({ text: 'x', parser: 'qwen_xml' })).toEqual({
    toolCalls: { state: 'absent' },
    reasoning: { state: 'not-asked' },
  })
  expect(requests.find(({ path }) => path === '/parse_function_call')?.body).toMatchObject({
    tool_call_parser: 'qwen3_coder',
  })
  expect(await ask({ text: 'x' })).toEqual({ toolCalls: { state: 'not-asked' }, reasoning: { state: 'not-asked' } })
})

test('Server parsing reports the code of a server that fails', async () => {
  const failing = { ...modelInfo, status: 500, response: { error: 'no such parser' } }
  const { ask } = await against({ '/parse_function_call': failing, '/separate_reasoning': failing })
  expect(await ask({ text: 'x', toolCallParser: 'nope', reasoningParser: 'nope' })).toMatchObject({
    toolCalls: { state: 'failed', code: 'UPSTREAM_ERROR', message: expect.stringContaining('no such parser') },
    reasoning: { state: 'failed', code: 'UPSTREAM_ERROR' },
  })
})

test('Server parsing refuses a parser name with a path, and a request with an address', () => {
  expect(serverParsingRequestSchema.safeParse({ text: '', toolCallParser: '../x' }).success).toBe(false)
  expect(serverParsingRequestSchema.safeParse({ text: '', url: 'http://a' }).success).toBe(false)
})

/** Compares our messages with those of Strands' own OpenAI provider, which runs with a client that only records requests. */
import { registerHooks } from 'node:module'
import { Message as SdkMessage, TextBlock, ToolResultBlock, ToolUseBlock } from '@strands-agents/sdk'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { chatBody } from '#lib/trajectory/messages/chat-call.ts'
import { toChatMessages } from './messages.ts'

/** The provider imports the openai package only for its client, and here it gets another client. */
const NO_PACKAGE = 'data:text/javascript,export default class {}; export class APIUserAbortError extends Error {}'
registerHooks({
  resolve: (name, context, next) => (name === 'openai' ? { url: NO_PACKAGE, shortCircuit: true } : next(name, context)),
})
const { OpenAIModel } = await import(/* @vite-ignore */ `${'@strands-agents/sdk'}/models/openai`)

interface Sent {
  readonly messages: readonly object[]
  readonly tools?: readonly object[]
}

async function provided(system: string | undefined, messages: readonly SdkMessage[], tools: readonly ToolSpec[]) {
  let sent: Sent | undefined
  const client = {
    chat: {
      completions: {
        create: async (body: Sent) => {
          sent = body
          return (async function* () {})()
        },
      },
    },
  }
  const model = new OpenAIModel({ api: 'chat', modelId: 'm', client })
  const toolSpecs = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  for await (const _ of model.stream(messages, { systemPrompt: system, toolSpecs }));
  return sent as Sent
}

const text = fc.oneof(fc.string(), fc.constantFrom('', ' ', '\n', ' a ', '\u00a0b\ufeff'))
const input = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue())
const result = fc
  .tuple(fc.constantFrom('success' as const, 'error' as const), fc.string({ minLength: 1 }), fc.option(fc.jsonValue()))
  .map(
    ([status, said, json]) =>
      new ToolResultBlock({
        toolUseId: 'c',
        status,
        content: [new TextBlock(`r${said}`), ...(json === null ? [] : [new TextBlock(JSON.stringify(json))])],
      }),
  )
const user = fc
  .tuple(fc.array(result, { maxLength: 2 }), fc.array(text, { minLength: 1, maxLength: 2 }))
  .map(
    ([results, texts]) =>
      new SdkMessage({ role: 'user', content: [...results, ...texts.map((one) => new TextBlock(one))] }),
  )
const assistant = fc.tuple(fc.array(text, { maxLength: 2 }), fc.array(input, { maxLength: 2 })).map(
  ([texts, inputs]) =>
    new SdkMessage({
      role: 'assistant',
      content: [
        ...texts.map((one) => new TextBlock(one)),
        ...inputs.map((one, index) => new ToolUseBlock({ name: 'f', toolUseId: `c${index}`, input: one as never })),
      ],
    }),
)
const tool = fc.record({
  name: fc.string({ minLength: 1 }),
  description: fc.string({ minLength: 1 }),
  inputSchema: input,
})

test('chat messages and tools equal those of the Strands provider', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.option(text, { nil: undefined }),
      fc.array(fc.oneof(user, assistant), { minLength: 1, maxLength: 6 }),
      fc.array(tool, { maxLength: 2 }),
      async (system, messages, tools) => {
        const sent = await provided(system, messages, tools)
        expect(toChatMessages(system, messages)).toEqual(sent.messages)
        const body = chatBody({ model: 'm', messages: [], tools, sampling: {}, templateOptions: {} })
        expect(body.tools).toEqual(sent.tools)
      },
    ),
  )
})

test('an empty tool result is refused by Rollscope and by the Strands provider', async () => {
  const empty = new ToolResultBlock({ toolUseId: 'c', status: 'success', content: [new TextBlock(' ')] })
  const messages = [new SdkMessage({ role: 'user', content: [empty] })]
  await expect(provided(undefined, messages, [])).rejects.toThrow(/empty/)
  expect(() => toChatMessages(undefined, messages)).toThrow(/EMPTY_RESULT/)
})

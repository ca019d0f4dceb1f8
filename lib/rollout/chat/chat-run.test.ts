import { describe, expect, test } from 'vitest'
import { EngineError } from '#lib/engine/http/errors.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { decodeValue, encode } from '#lib/trajectory/format/codec.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { Message, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type ChatCall, chatBody, sentMessages } from '#lib/trajectory/messages/chat-call.ts'
import { promptOf } from '#lib/trajectory/messages/read-prompt.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { segmentStarts, toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { byteTokenizerWith } from '#testing/byte-tokenizer.ts'
import { PNG_URL } from '#testing/images.ts'
import { answerScriptedChat, type ChatPlay, emptyChat, runScriptedChat } from '#testing/scripted-chat.ts'
import { bytes, call, drawMask, END, user } from '#testing/scripted-rollout.ts'
import { visionTemplate } from '#testing/small-templates.ts'
import type { AgentTool } from '../tools/tool.ts'

const responses = ({ segments }: Trajectory): ResponseSegment[] =>
  segments.flatMap((segment) => (segment.kind === 'response' ? [segment] : []))

/** Returns the prompt that each response follows, as text. */
const read = (trajectory: Trajectory): string[] => {
  const ids = trajectory.segments.flatMap((segment) => segment.ids)
  const starts = segmentStarts(trajectory)
  return trajectory.segments.flatMap((segment, index) =>
    segment.kind === 'response' ? [textOf(promptOf(ids, segment, starts[index] as number), trajectory.vocab)] : [],
  )
}

const exact = '<tool_call>{"name":"calculator","arguments":{"expression":"25 * 17"}}</tool_call>'
const spaced = '<tool_call>{"name": "calculator", "arguments": {"expression": "25 * 17"}}</tool_call>'

describe('a chat endpoint run', () => {
  test('records the ids that the server has read and written, and the messages of both sides', async () => {
    const { trajectory, requests } = await runScriptedChat({ scripts: [exact, '425'] })
    expect(drawMask(trajectory)).toBe(`(user q) [${exact}] (user [425]) [425]`)
    expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(read(trajectory).map(bytes)).toEqual(requests.map((request) => answerScriptedChat(request, '').promptIds))
    for (const [index, { request, message }] of responses(trajectory).entries()) {
      expect(request).toMatchObject({
        endpoint: 'chat',
        streamed: false,
        inputHash: inputHash(bytes(read(trajectory)[index] as string)),
      })
      expect(request?.read).toBeUndefined()
      expect(message).toMatchObject({ role: 'assistant' })
    }
    expect(decodeValue(JSON.parse(encode(trajectory))).ok).toBe(true)
  })

  test('reports where the server read other tokens than had been sampled', async () => {
    const { trajectory, requests } = await runScriptedChat({ scripts: [spaced, '425'] })
    const [first, second] = responses(trajectory) as [ResponseSegment, ResponseSegment]
    expect(first.request?.read).toBeUndefined()
    const ids = trajectory.segments.flatMap((segment) => segment.ids)
    const { kept, ids: others } = second.request?.read ?? { kept: 0, ids: [] }
    expect(textOf(ids.slice(0, kept), trajectory.vocab)).toMatch(/<tool_call>\{"name":$/)
    expect(textOf(ids.slice(kept, kept + 3), trajectory.vocab)).toBe(' "c')
    expect([...ids.slice(0, kept), ...others]).toEqual(answerScriptedChat(requests[1] as never, '').promptIds)
    expect(second.request?.inputLength).toBe(kept + others.length)
    expect(drawMask(trajectory)).toBe(`(user q) [${spaced}] (user [425]) [425]`)
  })

  test('finds the end of a reply that the server renders without its thinking', async () => {
    const { trajectory } = await runScriptedChat({ scripts: [`<think>25 * 17</think>${exact}`, '425'] })
    expect(drawMask(trajectory)).toBe(`(user q) [<think>25 * 17</think>${exact}] (user [425]) [425]`)
    expect(read(trajectory)[1]).not.toContain('<think>')
  })

  test('sends messages as the provider does, and records what each request adds', async () => {
    const { trajectory, requests } = await runScriptedChat({
      scripts: [`Well. ${spaced}`, 'done'],
      messages: [{ role: 'system', content: 'be brief' }, user('q')],
    })
    const sent = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      {
        role: 'assistant',
        content: 'Well.',
        tool_calls: [
          {
            id: 'call_of_2_0',
            type: 'function',
            function: { name: 'calculator', arguments: '{"expression":"25 * 17"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_of_2_0', content: '425' },
    ]
    expect(requests.map(({ messages }) => messages)).toEqual([sent.slice(0, 2), sent])
    expect(responses(trajectory).map(({ request }) => request?.chat)).toEqual([
      { model: 'scripted', kept: 0, messages: sent.slice(0, 2) },
      { model: 'scripted', kept: 2, messages: sent.slice(2) },
    ])
    expect(sentMessages(trajectory.segments)).toEqual(sent)
    expect(toolCallsOf(trajectory).map(({ id, result }) => [id, result?.text])).toEqual([['call_of_2_0', '425']])
  })

  test('sends the LoRA adapter as lora_path, and records it', async () => {
    const { trajectory, requests } = await runScriptedChat({ scripts: ['ok'], settings: { adapter: 'math' } })
    expect(requests.map(({ adapter }) => adapter)).toEqual(['math'])
    expect(chatBody(requests[0] as ChatCall)).toMatchObject({ lora_path: 'math' })
    expect(responses(trajectory).map(({ request }) => request?.adapter)).toEqual(['math'])
  })

  test('uses the sampling defaults of /generate', async () => {
    const { requests } = await runScriptedChat({
      scripts: ['ok'],
      settings: { sampling: { max_new_tokens: 5, sampling_seed: 3, temperature: 0.5 } },
    })
    expect(requests[0]?.sampling).toEqual({
      temperature: 0.5,
      top_p: 1,
      top_k: -1,
      min_p: 0,
      repetition_penalty: 1,
      max_completion_tokens: 5,
      seed: 3,
    })
  })

  test('continues from where it ended', async () => {
    const first = await runScriptedChat({ scripts: [spaced, '425'] })
    const second = await runScriptedChat({ scripts: ['more'], on: first.trajectory, messages: [user('and?')] })
    expect(second.requests[0]?.messages.slice(0, 3)).toEqual(first.requests[1]?.messages)
    expect(second.requests[0]?.messages.slice(3)).toEqual([
      { role: 'assistant', content: '425' },
      { role: 'user', content: [{ type: 'text', text: 'and?' }] },
    ])
    expect(drawMask(second.trajectory)).toBe(`(user q) [${spaced}] (user [425]) [425] (user and?) [more]`)
    expect(responses(second.trajectory).at(-1)?.request?.chat?.kept).toBe(3)
  })

  test('accepts a whole conversation', async () => {
    const { requests } = await runScriptedChat({
      scripts: ['ok'],
      messages: [
        user('a'),
        { role: 'assistant', content: 'b', reasoning: 'r', toolCalls: [{ id: 'x', name: 'f', input: { n: 1 } }] },
        { role: 'tool', callId: 'x', content: 'c' },
        user('d'),
      ],
    })
    expect(requests[0]?.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      {
        role: 'assistant',
        content: 'rb',
        tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{"n":1}' } }],
      },
      { role: 'tool', tool_call_id: 'x', content: 'c' },
      { role: 'user', content: [{ type: 'text', text: 'd' }] },
    ])
  })
})

describe('calls of a chat endpoint run', () => {
  test('that the server left out are shown and not executed', async () => {
    const { trajectory, requests } = await runScriptedChat({ scripts: [`${call('search', {})}${exact}`, 'ok'] })
    expect(toolCallsOf(trajectory).map(({ name, result }) => [name, result?.text])).toEqual([
      ['search', undefined],
      ['calculator', '425'],
    ])
    expect(requests[1]?.messages.filter(({ role }) => role === 'tool')).toHaveLength(1)
  })

  test('that our parser does not find have no position, which the record reports', async () => {
    const calls = [{ id: 'c', function: { name: 'calculator', arguments: '{"expression":"1 + 1"}' } }]
    const { trajectory } = await runScriptedChat({
      scripts: [
        async (request) => ({ ...answerScriptedChat(request, 'odd'), message: { content: '', tool_calls: calls } }),
        'ok',
      ],
    })
    expect(toolCallsOf(trajectory)).toMatchObject([{ id: 'c', span: { start: 0, end: 4 }, result: { text: '2' } }])
    expect(responses(trajectory)[0]?.problems).toMatchObject([{ kind: 'text' }])
  })

  test.each(['{"expression": "25 * 17"', '["25 * 17"]'])(
    'whose arguments the server gave as %s are refused, and the run continues',
    async (broken) => {
      const calls = [{ id: 'c', function: { name: 'calculator', arguments: broken } }]
      const text = `<tool_call>{"name":"calculator","arguments":${broken}}</tool_call>`
      const { trajectory, requests } = await runScriptedChat({
        scripts: [
          async (request) => ({ ...answerScriptedChat(request, text), message: { content: '', tool_calls: calls } }),
          'ok',
        ],
      })
      expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
      expect(toolCallsOf(trajectory)).toMatchObject([
        {
          kind: 'malformed',
          id: 'c',
          name: 'calculator',
          result: { status: 'error', text: expect.stringContaining('malformed') },
        },
      ])
      expect(requests[1]?.messages.slice(-2)).toMatchObject([
        { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'calculator', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c' },
      ])
      expect(decodeValue(JSON.parse(encode(trajectory))).ok).toBe(true)
      const further = await runScriptedChat({ scripts: ['more'], on: trajectory, messages: [user('and?')] })
      expect(further.requests[0]?.messages.slice(0, -2)).toEqual(requests[1]?.messages)
    },
  )

  test('with equal ids stay separate', async () => {
    const same = async (request: never) => {
      const made = answerScriptedChat(request, exact)
      const tool_calls = made.message.tool_calls?.map((one) => ({ ...one, id: 'same' }))
      return { ...made, message: { ...made.message, tool_calls } }
    }
    const { trajectory, requests } = await runScriptedChat({ scripts: [same as never, same as never, 'ok'] })
    expect(toolCallsOf(trajectory).map(({ id }) => id)).toEqual(['same', 'same-2'])
    expect(requests[2]?.messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]))).toEqual([
      'same',
      'same-2',
    ])
  })

  test('that fail have the provider’s words; an empty result ends the run, as with the provider', async () => {
    const failing: AgentTool = { spec: calculatorLike, run: () => Promise.reject(new Error('no')) }
    const { requests } = await runScriptedChat({ scripts: [exact, 'ok'], tools: [failing] })
    expect(requests[1]?.messages.at(-1)?.content).toBe('[ERROR] Error: no')
    const silent: AgentTool = { spec: calculatorLike, run: () => '' }
    const { trajectory } = await runScriptedChat({ scripts: [exact, 'ok'], tools: [silent] })
    expect(trajectory.outcome).toMatchObject({ kind: 'failed', code: 'EMPTY_RESULT' })
  })
})

const calculatorLike = { name: 'calculator', inputSchema: { type: 'object', properties: {} } }

describe('a chat call that ends early', () => {
  const outcome = async (play: ChatPlay) => (await runScriptedChat(play)).trajectory

  test('leaves no trace when it fails, and returns the question', async () => {
    const refused = () => Promise.reject(new EngineError('CHAT_UNSUPPORTED', 'no ids'))
    const { outcome: ended, segments } = await outcome({ scripts: [refused] })
    expect(segments).toEqual([])
    expect(ended).toMatchObject({
      kind: 'failed',
      code: 'CHAT_UNSUPPORTED',
      hint: expect.stringContaining('return_token_ids'),
      unsent: [user('q')],
    })
  })

  test('ends the run at its limit of tokens', async () => {
    const cut = async (request: never) => ({
      ...answerScriptedChat(request, 'lon', bytes('lon')),
      end: { finish: { kind: 'length' as const }, usage: {} },
    })
    const first = await outcome({ scripts: [cut as never] })
    expect(first.outcome).toEqual({ kind: 'ended', reason: 'length' })
    // The template closes the turn that the reply left open: its token is context.
    const second = await runScriptedChat({ scripts: ['g'], on: first, messages: [user('go on')] })
    expect(second.trajectory.segments[2]?.ids[0]).toBe(END)
    expect(responses(second.trajectory)[1]?.request?.read).toBeUndefined()
    expect(
      (await outcome({ scripts: [], on: second.trajectory, settings: { limits: { maxTokens: 10 } } })).outcome,
    ).toMatchObject({
      reason: 'max_tokens',
      unsent: [user('q')],
    })
  })

  test('is an outcome when the server aborts it', async () => {
    const aborted = async (request: never) => ({
      ...answerScriptedChat(request, '', []),
      end: { finish: { kind: 'abort' as const }, usage: {} },
    })
    expect((await outcome({ scripts: [aborted as never] })).outcome).toMatchObject({
      reason: 'aborted',
      unsent: [user('q')],
    })
  })

  test('is cancelled with the run', async () => {
    const controller = new AbortController()
    const waits = (_request: unknown, signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        controller.abort()
      })
    const { outcome: ended } = await outcome({ scripts: [waits], signal: controller.signal })
    expect(ended).toMatchObject({ kind: 'ended', reason: 'cancelled', unsent: [user('q')] })
  })
})

test('a server that reads an image as several tokens does not differ from the template of the record', async () => {
  const added = ['<|im_start|>', '<|im_end|>', '<|vision_start|>', '<|image_pad|>', '<|vision_end|>']
  const tokenizer = byteTokenizerWith(
    'vision',
    added.map((content, index) => ({ id: 256 + index, content, special: true })),
    0,
  )
  const messages: Message[] = [
    {
      role: 'user',
      content: [
        { type: 'image', image: PNG_URL },
        { type: 'text', text: '?' },
      ],
    },
  ]
  const problemsOf = async (question: string) => {
    const prompt = `<|im_start|>user\n<|vision_start|>${'<|image_pad|>'.repeat(5)}<|vision_end|>${question}<|im_end|>\n<|im_start|>assistant\n`
    const { trajectory } = await runScriptedChat({
      scripts: [async () => ({ promptIds: tokenizer.encode(prompt) })],
      promptEncoder: { tokenizer, template: chatTemplate(visionTemplate, {}) },
      ...{ messages, tools: [] },
    })
    return trajectory.segments[0]?.problems
  }
  expect(await problemsOf('?')).toBeUndefined()
  expect(await problemsOf('!')).toMatchObject([{ kind: 'prompt' }])
})

test('a server that renders differently than the template of the record is reported', async () => {
  const other = async (request: never) => ({
    ...answerScriptedChat(request, 'ok'),
    promptIds: bytes('<|im_start|>other'),
  })
  const { trajectory } = await runScriptedChat({ scripts: [other as never], on: emptyChat })
  expect(trajectory.segments[0]?.problems).toMatchObject([{ kind: 'prompt', index: 1 }])
})

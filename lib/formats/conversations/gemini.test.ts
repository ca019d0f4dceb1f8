/** Compares requests and replies of Gemini with what google-genai reads in them (lib/formats/golden/writers/make_gemini.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { assistantMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { openText } from '../reading/open.ts'
import { formatOf } from '../registry.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { gemini, geminiContents } from './gemini.ts'
import { geminiStream } from './gemini-stream.ts'

interface Reply {
  readonly texts: readonly string[]
  readonly thoughts: string
  readonly calls: readonly (readonly [id: string, name: string, input: object])[]
  readonly usage: Readonly<Record<string, number>>
}
const golden = JSON.parse(readFileSync('lib/formats/golden/gemini.json', 'utf8')) as {
  readonly replies: readonly [Reply, Reply]
  readonly stream: Omit<Reply, 'texts'> & { readonly text: string }
  readonly tokens: readonly (readonly [id: number, logprob: number])[]
  readonly tops: readonly (readonly (readonly [id: number, logprob: number])[])[]
}
const records = foreignRecords('gemini.jsonl') as readonly [Record<'request' | 'response', object>, object]
const replyOf = ({ segments }: Trajectory) => {
  const last = segments.at(-1)
  if (last?.kind !== 'response') throw new Error('the trajectory does not end with a response')
  return last
}

describe('A reply of Gemini', () => {
  test('in the names of the HTTP interface has its thoughts, calls and counts, and the messages of its request', () => {
    expect(records.map(formatOf)).toEqual([gemini, gemini])
    const trajectory = trajectoryOf(gemini, records[0])
    const [{ thoughts, calls, usage }] = golden.replies
    expect(conversation(trajectory)).toEqual([
      { role: 'system', content: 'Use the calculator.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is 25 * 17?' },
          { type: 'image', image: 'data:image/png;base64,++++/w==' },
        ],
      },
      {
        role: 'assistant',
        content: '',
        reasoning: thoughts,
        toolCalls: calls.map(([id, name, input]) => ({ id, name, input })),
      },
    ])
    expect(replyOf(trajectory).usage).toEqual({
      promptTokens: usage.prompt_token_count,
      completionTokens: Number(usage.candidates_token_count) + Number(usage.thoughts_token_count),
      cachedTokens: usage.cached_content_token_count,
    })
    expect(trajectory).toMatchObject({
      createdAt: '2026-11-24T16:00:00.000Z',
      model: { name: 'gemini-3-flash', tools: [{ name: 'calculator', inputSchema: { type: 'object' } }] },
      foreign: { gemini: { calls: [{ responseId: 'r1', request: { generationConfig: { temperature: 0.5 } } }] } },
    })
  })

  test('in the names of the Python classes has a trajectory for each candidate, with ids and logprobs', () => {
    const [, second] = golden.replies
    const trajectories = trajectoriesOf(gemini, records[1], fileSource('gemini'))
    expect(trajectories.map((one) => assistantMessage(replyOf(one).message ?? {}).content)).toEqual(second.texts)
    expect(trajectories.map(({ group }) => group)).toEqual([
      { id: 'r2', index: 0 },
      { id: 'r2', index: 1 },
    ])
    expect(trajectories.map(({ outcome }) => outcome)).toMatchObject([{ reason: 'end_turn' }, { reason: 'length' }])
    const [first] = trajectories as [Trajectory]
    const { ids, logprobs = [], topLogprobs } = replyOf(first)
    expect(ids.map((id, index) => [id, logprobs[index]])).toEqual(golden.tokens)
    expect(topLogprobs).toEqual({
      k: 2,
      ids: golden.tops.flat().map(([id]) => id),
      logprobs: golden.tops.flat().map(([, logprob]) => logprob),
    })
    expect(conversation(first).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant'])
    expect(first.provenance).toMatchObject({ lacked: ['ids of the prompt'] })
  })

  test('opens without its request, and keeps logprobs without ids unread', () => {
    const alone = trajectoryOf(gemini, records[0].response)
    expect(alone.provenance).toMatchObject({ lacked: expect.arrayContaining(['messages of the prompt']) })
    const candidate = (more: object) => ({ candidates: [{ content: { parts: [{ text: 'a' }] }, ...more }] })
    const entry = { token: 'a', logProbability: -1 }
    const unread = trajectoryOf(
      gemini,
      candidate({ finishReason: 'SAFETY', logprobsResult: { chosenCandidates: [entry] } }),
    )
    expect(replyOf(unread)).toMatchObject({ ids: [], finish: { kind: 'unknown', raw: 'SAFETY' } })
    expect(unread.foreign?.gemini).toMatchObject({ calls: [{ logprobsResult: { chosenCandidates: [entry] } }] })
    const counted = trajectoryOf(gemini, { ...candidate({}), usageMetadata: { promptTokenCount: 3 }, modelVersion: 7 })
    expect(replyOf(counted)).toMatchObject({ usage: { promptTokens: 3 } })
    expect(replyOf(counted)).not.toHaveProperty('finish')
    expect(conversation(trajectoryOf(gemini, { candidates: [{ finishReason: 'STOP' }] }))).toMatchObject([
      { content: '' },
    ])
  })
})

describe('A request of Gemini', () => {
  test('opens alone, also with texts as contents', () => {
    const trajectory = trajectoryOf(gemini, records[0].request)
    expect(conversation(trajectory).map(({ role }) => role)).toEqual(['system', 'user'])
    expect(trajectory.foreign).toEqual({ gemini: { generationConfig: { temperature: 0.5 } } })
    const asked = (request: object) => conversation(trajectoryOf(gemini, { request, response: records[0].response }))
    expect(
      asked({
        contents: 'q',
        config: {
          systemInstruction: 'Be brief.',
          tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT' } }] }],
        },
      }),
    ).toMatchObject([{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'q' }, { role: 'assistant' }])
    expect(asked({})).toMatchObject([{ role: 'assistant' }])
    expect(trajectoryOf(gemini, 7).segments).toEqual([])
  })

  test('is refused at a content that is none', () => {
    const response = records[0].response
    expect(refusalOf(gemini, { request: { contents: [7] }, response })?.path).toBe('request.contents[0]')
    expect(refusalOf(gemini, { request: { contents: [{ role: 'robot', parts: [] }] }, response })).toBeUndefined()
    const others = [7, { contents: [] }, { contents: [7] }, { candidates: [] }, { candidates: [{ name: 'x' }] }]
    expect(others.map(gemini.sniff)).toEqual(others.map(() => false))
  })
})

test('Messages of other programs with parts are no contents', () => {
  const others = [
    7,
    { role: 'user' },
    { role: 'assistant', parts: [] },
    { role: 'user', parts: [{ type: 'text', text: 'q' }] },
  ]
  expect([...others, { role: 'user', parts: [7] }].map(geminiContents.sniff)).toEqual(Array(5).fill(false))
})

test('The history of a chat opens as a conversation, with parts of other kinds and results kept', () => {
  const [history] = foreignRecords('gemini-contents.json') as [readonly object[]]
  const opened = openText(JSON.stringify(history), fileSource('contents'))
  expect(opened.ok && opened.format).toBe(geminiContents)
  expect(opened.ok && opened.trajectories.map((one) => conversation(one).map(({ role }) => role))).toEqual([
    ['user', 'assistant', 'tool', 'assistant'],
  ])
  const response = (value: unknown) => ({ role: 'tool', parts: [{ functionResponse: { name: 'f', response: value } }] })
  const code = { executableCode: { code: 'print(1)' } }
  const parts = [response({ output: 'a' }), response({ result: 'a', more: 1 }), response(undefined)]
  expect(
    conversation(
      trajectoryOf(geminiContents, [
        { role: 'user', parts: [{ text: 'q' }, { inlineData: { mimeType: 'audio/wav' } }] },
        { role: 'model', parts: [code] },
        ...parts,
      ]),
    ),
  ).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'q' },
        { type: 'inlineData', inlineData: { mimeType: 'audio/wav' } },
      ],
    },
    { role: 'assistant', content: [{ type: 'executableCode', ...code }] },
    { role: 'tool', name: 'f', content: 'a' },
    { role: 'tool', name: 'f', content: '{"result":"a","more":1}' },
    { role: 'tool', name: 'f', content: 'null' },
  ])
})

describe('A stream of Gemini', () => {
  const chunks = foreignRecords('gemini-stream.json')[0] as readonly object[]
  const text = (more: object, parts = [{ text: 'a' }]) => ({ candidates: [{ content: { parts }, ...more }] })

  test('is one reply with the texts, thoughts, calls and counts of its chunks', () => {
    for (const name of ['gemini-stream.json', 'gemini-stream.sse']) {
      const records = foreignRecords(name).flat()
      expect(formatOf(records[0])).toBe(geminiStream)
      const trajectory = trajectoryOf(geminiStream, records)
      const { text, thoughts, calls, usage } = golden.stream
      expect(assistantMessage(replyOf(trajectory).message ?? {})).toEqual({
        role: 'assistant',
        content: text,
        reasoning: thoughts,
        toolCalls: calls.map(([id, name, input]) => ({ id, name, input })),
      })
      expect(replyOf(trajectory)).toMatchObject({
        finish: { kind: 'stop' },
        usage: {
          promptTokens: usage.prompt_token_count,
          completionTokens: Number(usage.candidates_token_count) + Number(usage.thoughts_token_count),
        },
        ids: [3, 4],
        logprobs: [-0.75, -0.5],
      })
    }
  })

  test('opens from a JSON list, and chunks of an ended reply stay a reply of their own', () => {
    const opened = openText(JSON.stringify(chunks), fileSource('stream'))
    expect(opened.ok && opened.trajectories).toHaveLength(1)
    const ended = text({ finishReason: 'STOP' })
    const usage = { usageMetadata: { promptTokenCount: 3 }, modelVersion: 'g' }
    const trajectories = trajectoriesOf(geminiStream, [text({}), ended, usage, text({}), ended])
    expect(trajectories.map((one) => assistantMessage(replyOf(one).message ?? {}).content)).toEqual(['aa', 'aa'])
    expect(trajectories.map((one) => replyOf(one).usage)).toEqual([{ promptTokens: 3 }, undefined])
  })

  test('with logprobs of some texts only keeps them unread', () => {
    const logprobsResult = { chosenCandidates: [{ token: 'a', tokenId: 5, logProbability: -1 }] }
    const trajectory = trajectoryOf(geminiStream, [text({ logprobsResult }), text({ finishReason: 'STOP' })])
    expect(replyOf(trajectory).ids).toEqual([])
    expect(trajectory.foreign?.gemini).toMatchObject({ calls: [{ logprobs_results: [logprobsResult] }] })
  })

  test('keeps the candidates apart, and takes no message of another program with counts', () => {
    const chunk = (letter: string, index: number) => ({ index, content: { parts: [{ text: letter }] } })
    const trajectories = trajectoriesOf(geminiStream, [
      { responseId: 'r', candidates: [chunk('a', 0), chunk('x', 1)] },
      { responseId: 'r', candidates: [{ finishReason: 'STOP', index: 1 }, chunk('b', 0)] },
    ])
    expect(trajectories.map((one) => assistantMessage(replyOf(one).message ?? {}).content)).toEqual(['ab', 'x'])
    expect(
      [7, { usage_metadata: {}, type: 'ai' }, { usage_metadata: {}, model_version: 'g' }].map(geminiStream.sniff),
    ).toEqual([false, false, true])
  })

  test('of a prompt that was blocked is refused with the reason', () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: {}, modelVersion: 'g' }
    expect(refusalOf(geminiStream, [blocked])).toMatchObject({
      path: 'candidates',
      found: expect.stringContaining('blockReason'),
    })
  })
})

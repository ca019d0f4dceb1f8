import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { ResponseSegment } from '../format/trajectory.ts'
import { type ChatMessage, chatBody, commonMessages, sentMessages } from './chat-call.ts'

const call = { model: 'm', messages: [], tools: [], sampling: { temperature: 0 }, templateOptions: {} }

describe('the body of a chat call', () => {
  test('requests ids and logprobs and omits unset fields', () => {
    expect(chatBody(call)).toEqual({
      model: 'm',
      messages: [],
      temperature: 0,
      stream: false,
      logprobs: true,
      return_token_ids: true,
      rid: undefined,
    })
  })

  test('contains tools and template options as a client sends them', () => {
    const tools = [
      { name: 'f', inputSchema: { type: 'object' } },
      { name: 'g', description: 'G.', inputSchema: {} },
    ]
    expect(chatBody({ ...call, tools, templateOptions: { enable_thinking: false }, rid: 'r' })).toMatchObject({
      tools: [
        { type: 'function', function: { name: 'f', description: 'f', parameters: { type: 'object' } } },
        { type: 'function', function: { name: 'g', description: 'G.', parameters: {} } },
      ],
      chat_template_kwargs: { enable_thinking: false },
      rid: 'r',
    })
  })
})

test('is restored from the difference to the previous body', () => {
  const messages = fc.array(
    fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.constantFrom('a', 'b') }),
  )
  fc.assert(
    fc.property(fc.array(messages, { minLength: 1, maxLength: 5 }), (bodies) => {
      const [, response] = sampleTrajectory.segments as [unknown, ResponseSegment]
      let before: readonly ChatMessage[] = []
      const segments = bodies.map((body): ResponseSegment => {
        const kept = commonMessages(before, body)
        before = body
        const request = response.request as NonNullable<ResponseSegment['request']>
        return { ...response, request: { ...request, chat: { model: 'm', kept, messages: body.slice(kept) } } }
      })
      for (const [index, body] of bodies.entries()) expect(sentMessages(segments.slice(0, index + 1))).toEqual(body)
      expect(sentMessages([...segments, ...sampleTrajectory.segments])).toEqual(bodies.at(-1))
    }),
  )
})

import { expect, test } from 'vitest'
import { kimiK2 } from '#lib/parsers/json/kimi-k2.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { replyTexts, writtenReply } from './written-reply.ts'

const replied = (text: string): { readonly trajectory: Trajectory; readonly segment: ResponseSegment } => {
  const end = byteId('<|im_end|>')
  const { trajectory } = simulateRollout(
    chatml,
    [
      {
        messages: [{ role: 'user', content: 'q' }],
        reply: [...byteTokenizer.encode(text), end],
        finish: { kind: 'stop', matched: end },
      },
    ],
    { parser: kimiK2 },
  )
  return { trajectory, segment: trajectory.segments[1] as ResponseSegment }
}

const SECTION = ['<|tool_calls_section_begin|>', '<|tool_calls_section_end|>'] as const
const CALL = '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>'

test('the tags around calls are cut with the calls, and stay in the text with them', () => {
  const { trajectory, segment } = replied(`<think>hm</think> so ${SECTION.join(CALL)}`)
  const written = writtenReply(segment, trajectory)
  expect(replyTexts(written, segment.toolCalls)).toEqual({ content: 'so', reasoning: 'hm' })
  expect(replyTexts(written, [])).toEqual({ content: `so ${SECTION.join(CALL)}`, reasoning: 'hm' })
  expect(replyTexts(writtenReply(replied('so').segment, trajectory), []).reasoning).toBeUndefined()
})

test('a reply without a known parser has no markup, and a think block ends with the text at the latest', () => {
  const { trajectory, segment } = replied('<think>hm')
  const { parser: _, ...model } = trajectory.model
  const beyond = { ...segment, thinks: [{ start: 0, end: 99, closed: false }] }
  expect(writtenReply(beyond, { ...trajectory, model })).toMatchObject({
    thinks: [{ start: 0, end: '<think>hm'.length }],
    markup: [],
  })
  expect(
    writtenReply({ ...segment, thinks: [{ start: 98, end: 99, closed: false }] }, { ...trajectory, model }).thinks,
  ).toEqual([{ start: '<think>hm'.length, end: '<think>hm'.length }])
})

import { expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { type PlacedPrompt, placePrompt } from './placed-prompt.ts'

const bytes = byteTokenizer.encode

function placed(segments: Trajectory['segments'], prompt: string): PlacedPrompt {
  const model = { tools: [], tokenizer: { name: 'bytes', specialIds: [], endOfTurnId: byteId('<|im_end|>') } }
  return placePrompt({ segments, model }, bytes(prompt), byteTokenizer.bytes)
}

const question: Trajectory['segments'][number] = { kind: 'prompt', ids: bytes('q'), messages: [] }
const reply: Trajectory['segments'][number] = {
  kind: 'response',
  ids: bytes('a<|im_end|>'),
  thinks: [],
  toolCalls: [],
}

test('The first prompt of a trajectory is new from its first token', () => {
  expect(placed([], 'q')).toEqual({ ids: bytes('q') })
})

test('A prompt that continues the recorded tokens is the part after them', () => {
  expect(placed([question, reply], 'qa<|im_end|>r')).toEqual({ ids: bytes('r') })
  expect(placed([question], 'qr')).toEqual({ ids: bytes('r') })
})

test('A prompt that differs from the recorded tokens reports its tokens from the first difference', () => {
  const { ids, read } = placed([question, reply], 'qb<|im_end|>r')
  expect(ids).toEqual(bytes('r'))
  expect(read).toEqual({ kept: 1, ids: bytes('b<|im_end|>r') })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '#testing/property-runs.ts'
import { recording, recordingNames } from '#testing/sglang/recordings.ts'
import { generateReplySchema } from '../server/schema.ts'
import { isPlainReply } from './plain-reply.ts'

const scored = fc.tuple(
  fc.oneof(fc.double(), fc.constant(null)),
  fc.oneof(fc.nat(), fc.integer(), fc.double()),
  fc.jsonValue(),
)
const odd = fc.jsonValue({ maxDepth: 2 })
const meta = fc.record(
  {
    id: fc.string(),
    finish_reason: fc.oneof(
      fc.constant(null),
      fc.record(
        { type: fc.string(), matched: fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer()), odd) },
        { requiredKeys: [] },
      ),
      odd,
    ),
    prompt_tokens: fc.oneof(fc.integer(), odd),
    e2e_latency: fc.oneof(fc.double(), odd),
    weight_versions: fc.oneof(
      fc.array(fc.record({ version: fc.string(), start: fc.integer(), end: fc.nat() }, { requiredKeys: ['start'] })),
      odd,
    ),
    weight_version: fc.oneof(fc.string(), odd),
    input_token_logprobs: fc.oneof(fc.array(scored), odd),
    output_token_logprobs: fc.oneof(fc.array(scored), odd),
    output_top_logprobs: fc.oneof(fc.array(fc.oneof(fc.array(scored), fc.constant(null), odd)), odd),
    more: odd,
  },
  { requiredKeys: [] },
)
const reply = fc.record(
  {
    text: fc.oneof(fc.string(), odd),
    output_ids: fc.oneof(fc.array(fc.integer()), odd),
    meta_info: fc.oneof(meta, odd),
  },
  { requiredKeys: [] },
)

describe('isPlainReply', () => {
  test('accepts only replies that the schema returns unchanged', () => {
    let plain = 0
    fc.assert(
      fc.property(reply, (drawn) => {
        const value: unknown = JSON.parse(JSON.stringify(drawn))
        if (!isPlainReply(value)) return
        plain++
        expect(generateReplySchema.parse(value)).toEqual(value)
      }),
      { numRuns: runs(500) },
    )
    expect(plain).toBeGreaterThan(0)
  })

  test('rejects __proto__, which the schema would drop', () => {
    const version = '{"version":"1","start":0,"end":1,"__proto__":0}'
    for (const text of [
      '{"meta_info":{},"__proto__":0}',
      '{"meta_info":{"__proto__":0}}',
      '{"meta_info":{"finish_reason":{"type":"stop","__proto__":0}}}',
      `{"meta_info":{"weight_versions":[${version}]}}`,
    ])
      expect(isPlainReply(JSON.parse(text))).toBe(false)
  })

  test('accepts what the real server sends', () => {
    const replies = recordingNames
      .map((name) => recording(name).response)
      .filter((value) => generateReplySchema.safeParse(value).success)
    expect(replies.length).toBeGreaterThan(20)
    for (const one of replies) expect(isPlainReply(one)).toBe(true)
  })

  test('accepts nothing that nests without end', () => {
    const deep = (levels: number): unknown => (levels === 0 ? 0 : [deep(levels - 1)])
    expect(isPlainReply({ meta_info: { more: deep(4) } })).toBe(true)
    expect(isPlainReply({ meta_info: { more: deep(40) } })).toBe(false)
    expect(isPlainReply({ meta_info: {}, more: deep(40) })).toBe(false)
    expect(isPlainReply({ meta_info: { finish_reason: { type: 'stop', more: deep(40) } } })).toBe(false)
  })
})

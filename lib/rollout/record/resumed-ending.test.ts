import { expect, test } from 'vitest'
import type { ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import { resumedEnding } from './record.ts'

const vocab = { '1': 'one', '2': { hex: 'c3' } }
const request = { server: 's', samplingParams: {}, inputLength: 1, inputHash: '', streamed: true }
const finish = { kind: 'stop' } as const
const kept = (change: Partial<ResponseSegment> = {}): ResponseSegment => ({
  kind: 'response',
  ids: [1, 1],
  thinks: [],
  toolCalls: [],
  ...change,
})

test('the end of a resumed response lists each call that continued it', () => {
  const first = resumedEnding(kept({ finish: { kind: 'cancelled' } }), request, { finish, problems: [] }, vocab)
  expect(first).toEqual({ finish, problems: [], resumed: [{ at: 2, stopped: { kind: 'cancelled' }, request }] })
  const timing = { startedAt: '', elapsedMs: 1 }
  const ending = { finish, problems: [], usage: { promptTokens: 3 }, timing }
  expect(resumedEnding(kept({ resumed: first.resumed ?? [] }), request, ending, vocab).resumed).toEqual([
    { at: 2, stopped: { kind: 'cancelled' }, request },
    { at: 2, request, usage: { promptTokens: 3 }, timing },
  ])
})

test('weight versions and problems of the call count from the start of the response', () => {
  const weightVersions = [{ version: 'b', start: 0, end: 1 }]
  const problems = [
    { kind: 'count', message: 'm' },
    { kind: 'number', message: 'm', index: 0 },
  ]
  const before = kept({ weightVersions: [{ version: 'a', start: 0, end: 2 }] })
  expect(resumedEnding(before, request, { finish, problems, weightVersions }, vocab)).toMatchObject({
    weightVersions: [
      { version: 'a', start: 0, end: 2 },
      { version: 'b', start: 2, end: 3 },
    ],
    problems: [{ kind: 'count' }, { index: 2 }],
  })
})

test('the server’s text is compared after the kept text, unless a character was cut in two', () => {
  const ending = { finish, problems: [], text: ' two' }
  expect(resumedEnding(kept(), request, ending, vocab).text).toBe('oneone two')
  expect(resumedEnding(kept({ ids: [1, 2] }), request, ending, vocab).text).toBeUndefined()
})

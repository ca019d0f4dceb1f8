import fc from 'fast-check'
import { expect, test } from 'vitest'
import { liveViewNote, liveViewOf } from './live-view.ts'

test.each([
  ['an incremental server', { kind: 'server', version: '0.5.23', incrementalStreaming: true }, 'fine'],
  ['a cumulative server', { kind: 'server', version: '0.5.23', incrementalStreaming: false }, 'coarse'],
  ['an older one, which is cumulative', { kind: 'server', version: '0.5.2' }, 'coarse'],
  ['the oldest that knows the parameter', { kind: 'server', version: '0.4.10.post2' }, 'coarse'],
  ['one that does not', { kind: 'server', version: '0.4.6.post5' }, 'none'],
  ['a later major version', { kind: 'server', version: '1.0.0' }, 'coarse'],
  ['one that does not tell', { kind: 'server' }, 'none'],
  ['one whose version is no number', { kind: 'server', version: 'main' }, 'none'],
  ['a build without a version that tells how it streams', { version: 'main', incrementalStreaming: true }, 'fine'],
  ['a router, whatever it says', { kind: 'router', version: '0.5.23', incrementalStreaming: true }, 'none'],
] as const)('%s', (_what, server, kind) => {
  expect(liveViewOf(server, 1000, 5).kind).toBe(kind)
})

test('a server that repeats everything sends at most 32 chunks, and never fewer than 256 tokens in one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.nat(20), (longest, alternatives) => {
      const view = liveViewOf({ incrementalStreaming: false }, longest, alternatives)
      const tokens = view.kind === 'coarse' ? view.tokensAStep : 0
      expect(tokens).toBeGreaterThanOrEqual(256)
      expect(Math.ceil(longest / tokens)).toBeLessThanOrEqual(32)
    }),
  )
})

test('the fewer bytes a token has, the more of them come in one chunk', () => {
  const step = (alternatives: number) => liveViewOf({ incrementalStreaming: true }, 100, alternatives)
  expect([step(0), step(5)]).toEqual([
    { kind: 'fine', tokensAStep: 16 },
    { kind: 'fine', tokensAStep: 4 },
  ])
})

test('what is less than live is told', () => {
  expect(liveViewNote({ kind: 'fine', tokensAStep: 4 })).toBeUndefined()
  expect(liveViewNote({ kind: 'coarse', tokensAStep: 1024 })).toBe(
    'Live view is coarse: this server repeats everything in each chunk (1,024 tokens a step).',
  )
  expect(liveViewNote({ kind: 'none' })).toContain('No live view')
})

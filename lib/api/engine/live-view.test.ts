import fc from 'fast-check'
import { expect, test } from 'vitest'
import { liveViewNote, liveViewOf } from './live-view.ts'
import { ENGINE_CAPABILITIES } from './unsupported.ts'

test.each([
  ['an incremental server', { kind: 'server', version: '0.5.23', incrementalStreaming: true }, 'incremental'],
  ['a cumulative server', { kind: 'server', version: '0.5.23', incrementalStreaming: false }, 'cumulative'],
  ['an older, cumulative server', { kind: 'server', version: '0.5.2' }, 'cumulative'],
  ['the oldest server that knows the parameter', { kind: 'server', version: '0.4.10.post2' }, 'cumulative'],
  ['a server that does not know the parameter', { kind: 'server', version: '0.4.6.post5' }, 'token-by-token'],
  ['a server of a later major version', { kind: 'server', version: '1.0.0' }, 'cumulative'],
  ['a server that does not report its version', { kind: 'server' }, 'token-by-token'],
  ['a server whose version is not a number', { kind: 'server', version: 'main' }, 'token-by-token'],
  [
    'a build without a version that reports how it streams',
    { version: 'main', incrementalStreaming: true },
    'incremental',
  ],
  [
    'a router, whatever it reports',
    { kind: 'router', version: '0.5.23', incrementalStreaming: true },
    'token-by-token',
  ],
] as const)('the live view of %s has the expected kind', (_what, server, kind) => {
  expect(liveViewOf(server, 1000, 5).kind).toBe(kind)
})

test('a server that repeats everything sends at most 32 chunks, and never fewer than 256 tokens in one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.nat(20), (longest, alternatives) => {
      const view = liveViewOf({ incrementalStreaming: false }, longest, alternatives)
      const tokens = view.kind === 'cumulative' ? view.tokensPerChunk : 0
      expect(tokens).toBeGreaterThanOrEqual(256)
      expect(Math.ceil(longest / tokens)).toBeLessThanOrEqual(32)
    }),
  )
})

test('a chunk of the live view has more tokens if a token has fewer bytes', () => {
  const step = (alternatives: number) => liveViewOf({ incrementalStreaming: true }, 100, alternatives)
  expect([step(0), step(5)]).toEqual([
    { kind: 'incremental', tokensPerChunk: 16 },
    { kind: 'incremental', tokensPerChunk: 4 },
  ])
})

test('a reply whose interval cannot be requested is streamed up to 128 MiB of repeated tokens, and fetched whole above', () => {
  const worstBytes = (tokens: number, alternatives: number) =>
    tokens * 600 + (tokens ** 2 / 2) * (45 + alternatives * 31)
  for (const alternatives of [0, 1, 5, 20]) {
    const view = liveViewOf({ kind: 'router' }, 1_000_000, alternatives)
    const most = view.kind === 'none' ? view.mostNewTokens : 0
    expect(worstBytes(most, alternatives)).toBeLessThanOrEqual(128 << 20)
    expect(worstBytes(most + 1, alternatives)).toBeGreaterThan(128 << 20)
    expect(liveViewOf({ kind: 'router' }, most, alternatives)).toEqual({ kind: 'token-by-token' })
    expect(liveViewOf({ kind: 'router' }, most + 1, alternatives)).toEqual(view)
  }
  expect(liveViewOf({ kind: 'router' }, 1024, 5)).toEqual({ kind: 'token-by-token' })
})

test('the note on the live view of a cumulative server names the tokens per chunk, the option that lowers them, and what the option changes', () => {
  const note = (alternatives: number) =>
    liveViewNote(liveViewOf({ incrementalStreaming: false, version: '0.5.23' }, 1024, alternatives))
  expect(note(5)).toBe(
    'The live view moves every 256 tokens: this server repeats the whole reply in each chunk, so few chunks are requested. Start SGLang 0.5.12 or newer with --incremental-streaming-output: its /generate streams then bring only new tokens, to all clients, and the view moves every 4 tokens.',
  )
  expect(note(0)).toContain('the view moves every 16 tokens.')
})

test('the live view note is absent for views that follow the tokens, and names what to lower if there is no view', () => {
  expect(liveViewNote({ kind: 'incremental', tokensPerChunk: 4 })).toBeUndefined()
  expect(liveViewNote({ kind: 'token-by-token' })).toBeUndefined()
  expect(liveViewNote({ kind: 'none', mostNewTokens: 1155 })).toBe(
    'No live view: the server takes no stream_interval (a router drops it), so each reply is fetched whole, and a cancelled one is lost. Lower max_new_tokens to 1,155 or less to watch replies.',
  )
})

test('A server whose streams lack ids has no live view, and the note says why', () => {
  const view = liveViewOf({ kind: 'server', capabilities: ENGINE_CAPABILITIES['llama.cpp'] }, 1024, 5)
  expect(view.kind).toBe('none')
  expect(liveViewNote(view)).toMatch(/^No live view: llama\.cpp leaves out ids/)
})

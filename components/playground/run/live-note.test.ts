import { expect, test } from 'vitest'
import type { ShownStatus } from '#components/shell/server-state.tsx'
import { DEFAULT_SETUP } from '#lib/share/settings/setup.ts'
import { liveNote } from './live-note.ts'

const server = (incrementalStreaming: boolean | undefined): ShownStatus => ({
  state: 'ready',
  kind: 'server',
  version: '0.5.23',
  latencyMs: 1,
  ...(incrementalStreaming !== undefined && { incrementalStreaming }),
})
const longReplies = { ...DEFAULT_SETUP, sampling: { ...DEFAULT_SETUP.sampling, max_new_tokens: '32768' } }

test('liveNote describes a coarse live view of a server, and is undefined if the view is fine or unknown', () => {
  expect(liveNote(server(true), DEFAULT_SETUP)).toBeUndefined()
  expect(liveNote(server(false), DEFAULT_SETUP)).toContain('moves every 256 tokens')
  expect(liveNote(server(undefined), longReplies)).toContain('moves every 1,024 tokens')
  const router: ShownStatus = { state: 'ready', kind: 'router', latencyMs: 1 }
  expect(liveNote(router, DEFAULT_SETUP)).toBeUndefined()
  expect(liveNote(router, longReplies)).toContain('No live view')
  expect(liveNote({ state: 'asking' }, DEFAULT_SETUP)).toBeUndefined()
})

test('liveNote says that a chat baseline has no live view, with every server', () => {
  expect(liveNote(server(true), { ...DEFAULT_SETUP, endpoint: 'chat' })).toContain('not streamed')
})

test('liveNote says that the live view is switched off, with every server', () => {
  expect(liveNote(server(true), { ...DEFAULT_SETUP, stream: false })).toContain('Live view is off')
})

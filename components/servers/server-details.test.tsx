import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { ServerLoad } from '#lib/api/server-load.ts'
import type { ReadyStatus } from '#lib/api/server-status.ts'
import { ServerDetails } from './server-details.tsx'

const server: ReadyStatus = { state: 'ready', kind: 'server', latencyMs: 3.4 }

/** Returns the rendered facts by name. */
function facts(status: ReadyStatus, load?: ServerLoad): Readonly<Record<string, string | null>> {
  const { unmount } = render(<ServerDetails status={status} load={load} />)
  const names = screen.getAllByRole('term')
  const values = screen.getAllByRole('definition')
  const read = Object.fromEntries(names.map((name, index) => [name.textContent, values[index]?.textContent ?? null]))
  unmount()
  return read
}

test('server details show unreported facts as unknown', () => {
  const read = facts(server, { state: 'not-reported' })
  const reported = Object.entries(read).filter(([, value]) => value !== 'unknown')
  expect(reported).toEqual([
    ['kind', 'SGLang server'],
    ['answered in', '3.4 ms'],
  ])
})

test('server details name the engine', () => {
  const read = facts({ ...server, version: 'b6000', capabilities: ENGINE_CAPABILITIES['llama.cpp'] })
  expect(read).toMatchObject({ kind: 'llama.cpp server', 'llama.cpp version': 'b6000' })
})

test('server details distinguish incremental, cumulative and unknown streaming', () => {
  expect(facts({ ...server, incrementalStreaming: true }).streaming).toBe('incremental')
  expect(facts({ ...server, incrementalStreaming: false }).streaming).toBe('cumulative')
  expect(facts(server).streaming).toBe('unknown')
})

test('server details show the load, or why it is unknown', () => {
  const load: ServerLoad = {
    state: 'reported',
    running: 5,
    waiting: 2,
    maxRunning: 8,
    tokenUsage: 0.412,
    cachedShare: 0.873,
  }
  expect(facts({ ...server, maxTotalTokens: 8192 }, load)).toMatchObject({
    'requests running': '5 of 8',
    'requests waiting': '2',
    'KV cache in use': '41.2 %',
    'KV cache capacity': '8,192 tokens',
    'cached share of prompts': '87.3 %',
    generating: 'unknown',
  })
  expect(facts(server, { state: 'failed', code: 'DEADLINE', message: 'it took too long', hint: 'Wait.' }).queue).toBe(
    'it took too longWait.',
  )
})

test('server details list the workers of a router', () => {
  const workers = [
    { url: 'http://a', isHealthy: true },
    { url: 'http://b', isHealthy: false },
  ]
  expect(facts({ ...server, kind: 'router', workers }, { state: 'reported', running: 3 })).toMatchObject({
    kind: 'router, 1 of 2 workers healthy',
    'requests at workers': '3',
    healthy: 'http://a',
    'not healthy': 'http://b',
  })
})

test('server details show the parser of the server and the matching parser here', () => {
  const parsers = (toolCallParser: string, parser?: string) =>
    facts({ ...server, toolCallParser, ...(parser !== undefined && { parser }) })['tool-call parser']
  expect(parsers('qwen', 'hermes')).toBe('qwen, here hermes')
  expect(parsers('hermes', 'hermes')).toBe('hermes')
  expect(parsers('step3')).toBe('step3, not supported here')
})

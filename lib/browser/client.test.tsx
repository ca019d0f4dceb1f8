import { globSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { QueryClient } from '@tanstack/react-query'
import { act, renderHook, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import { listeningUrl } from '#testing/listening.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { ApiError, callApi, fetchJson, fetchLines, storeToken, streamJsonLines } from './api.ts'
import { trajectoryOptions } from './queries.ts'
import { createRolloutStore, type RolloutState } from './rollout/rollout-store.ts'
import { useRollout } from './rollout/use-rollout.ts'

const turns = [
  { messages: [{ role: 'user', content: 'q' } as const], reply: [65, 66, 67], finish: { kind: 'stop' } as const },
]
const { events, trajectory } = simulateRollout(chatml, turns)

let server: Server
let answer: Parameters<typeof createServer>[1]
beforeEach(async () => {
  server = createServer((request, response) =>
    (answer as (a: typeof request, b: typeof response) => void)(request, response),
  )
  const base = await listeningUrl(server)
  const real = globalThis.fetch
  vi.stubGlobal('fetch', (path: string, init: RequestInit) =>
    real(new URL(path, base), { ...init, ...(init.signal && { signal: sameRealm(init.signal) }) }),
  )
})
afterEach(() => {
  vi.unstubAllGlobals()
  server.closeAllConnections()
  server.close()
})

/** Converts a signal: jsdom has its own AbortSignal, which Node's fetch does not accept. */
function sameRealm(signal: AbortSignal): AbortSignal {
  const { AbortController: NodeController } = process.getBuiltinModule('node:vm').runInThisContext('globalThis') as {
    AbortController: typeof AbortController
  }
  const controller = new NodeController()
  signal.addEventListener('abort', () => controller.abort())
  return controller.signal
}

/** Returns a state with its trajectory in the form of a file. */
const recorded = (state: RolloutState | undefined) =>
  state?.kind === 'ended' ? { ...state, trajectory: unpack(state.trajectory) } : state

const states = async (until: (state: RolloutState) => boolean): Promise<RolloutState[]> => {
  const store = createRolloutStore((action) => setTimeout(action, 1))
  const seen: RolloutState[] = []
  const done = new Promise<void>((resolve) => {
    store.subscribe(() => {
      seen.push(store.state())
      if (until(store.state())) resolve()
    })
  })
  store.follow('r', 'k')
  await done
  return seen
}

describe('the rollout store', () => {
  test('follows to the end and has the trajectory of the events', async () => {
    answer = (_request, response) => response.end(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    const seen = await states(({ kind }) => kind === 'ended')
    expect(recorded(seen.at(-1))).toEqual({ kind: 'ended', key: 'k', trajectory })
  })

  test('reports once that a rollout has ended or is gone', async () => {
    const settled: RolloutState[] = []
    const settlement = (): Promise<RolloutState> =>
      new Promise((resolve) => {
        const store = createRolloutStore(
          (action) => setTimeout(action, 1),
          (state) => {
            settled.push(state)
            expect(store.state()).toBe(state)
            resolve(state)
          },
        )
        store.follow('r', 'k')
      })
    answer = (_request, response) => response.end(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    expect(recorded(await settlement())).toEqual({ kind: 'ended', key: 'k', trajectory })
    answer = (_request, response) => response.writeHead(404).end('{"code":"NO_ROLLOUT","detail":"none"}')
    expect(await settlement()).toEqual({ kind: 'unavailable', key: 'k' })
    expect(settled).toHaveLength(2)
  })

  test('continues after a lost connection at the last received event', async () => {
    const asked: string[] = []
    answer = (request, response) => {
      asked.push(request.url ?? '')
      const from = Number(new URL(request.url ?? '', 'http://x').searchParams.get('from'))
      const part = events.slice(from, from + 3)
      response.write(part.map((event) => `${JSON.stringify(event)}\n`).join(''))
      setTimeout(() => (from + 3 >= events.length ? response.end() : response.destroy()), 5)
    }
    vi.spyOn(globalThis, 'setTimeout')
    const seen = await states(({ kind }) => kind === 'ended')
    expect(asked.slice(0, 3)).toEqual([
      '/api/rollouts/r/events?from=0',
      '/api/rollouts/r/events?from=3',
      '/api/rollouts/r/events?from=6',
    ])
    expect(seen.some((state) => state.kind === 'following' && !state.isConnected)).toBe(true)
    expect(recorded(seen.at(-1))).toEqual({ kind: 'ended', key: 'k', trajectory })
  })

  test('continues at the last received event after the server dropped it as too slow', async () => {
    const requested: string[] = []
    answer = (request, response) => {
      requested.push(request.url ?? '')
      const from = Number(new URL(request.url ?? '', 'http://x').searchParams.get('from'))
      const closed = { type: 'stream-closed', code: 'READER_TOO_SLOW', message: 'nothing was read', next: 3 }
      const part = from === 0 ? [...events.slice(0, 3), closed] : events.slice(from)
      response.end(part.map((line) => `${JSON.stringify(line)}\n`).join(''))
    }
    const seen = await states(({ kind }) => kind === 'ended' || kind === 'failed')
    expect(requested).toEqual(['/api/rollouts/r/events?from=0', '/api/rollouts/r/events?from=3'])
    expect(recorded(seen.at(-1))).toEqual({ kind: 'ended', key: 'k', trajectory })
  })

  test('stops with a report if events contradict each other', async () => {
    answer = (_request, response) => response.end(`${JSON.stringify(events.at(-1))}\n`)
    expect((await states(({ kind }) => kind !== 'following')).at(-1)).toMatchObject({
      kind: 'failed',
      error: { code: 'BAD_EVENTS' },
    })
    answer = (_request, response) =>
      response.end(
        [events[0], { type: 'tokens', ids: [1], vocab: {}, specialIds: [] }]
          .map((event) => `${JSON.stringify(event)}\n`)
          .join(''),
      )
    expect((await states(({ kind }) => kind !== 'following')).at(-1)).toMatchObject({ kind: 'failed' })
  })

  test('a line that is not an event ends the following, and the error names the place where it departs', async () => {
    answer = (_request, response) =>
      response.end(`${JSON.stringify(events[0])}\n{"type":"tokens","ids":[1,-1],"vocab":{},"specialIds":[]}\n`)
    expect((await states(({ kind }) => kind !== 'following')).at(-1)).toMatchObject({
      kind: 'failed',
      error: { code: 'BAD_EVENTS', message: expect.stringContaining('ids[1]: expected at least 0, found -1') },
    })
  })

  test('is gone if the rollout no longer exists, and has failed if it may not be read', async () => {
    answer = (_request, response) => response.writeHead(404).end('{"code":"NO_ROLLOUT","detail":"none"}')
    expect((await states(({ kind }) => kind !== 'following')).at(-1)).toEqual({ kind: 'unavailable', key: 'k' })
    answer = (_request, response) =>
      response.writeHead(401).end('{"code":"TOKEN_REQUIRED","detail":"no","hint":"paste it"}')
    expect((await states(({ kind }) => kind !== 'following')).at(-1)).toMatchObject({
      kind: 'failed',
      error: { status: 401, hint: 'paste it' },
    })
  })
})

describe('the rollout of a page', () => {
  const listener = { left: 0 }
  /** Returns a server that sends these events and then nothing. */
  const streamOf = (list: readonly RolloutEvent[]) => (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'POST') return response.end('{"rolloutId":"r","trajectoryId":"B"}')
    response.write(list.map((event) => `${JSON.stringify(event)}\n`).join(''))
    return response.on('close', () => listener.left++)
  }
  const page = (key: string | undefined) => {
    const cache = new QueryClient()
    const wrapper = withQueries(cache)
    const hook = renderHook(({ shown }: { readonly shown: string | undefined }) => useRollout(shown), {
      wrapper,
      initialProps: { shown: key },
    })
    return {
      ...hook,
      /** Returns the cached trajectory in the form of a file. */
      cached: (of: string) => {
        const known = cache.getQueryData(trajectoryOptions(of).queryKey)
        return known && unpack(known)
      },
      put: (of: string, known: Trajectory) => cache.setQueryData(trajectoryOptions(of).queryKey, known),
      /** Requests the trajectory; the test decides when the answer arrives. */
      asked: (of: string, late: Promise<Trajectory>) =>
        cache.fetchQuery({ ...trajectoryOptions(of), queryFn: () => late }).catch(() => undefined),
    }
  }

  test('is cached under its own key, whichever trajectory the page shows when it ends', async () => {
    answer = streamOf(events)
    const { result, rerender, cached } = page(undefined)
    await act(async () => {
      await result.current.start({ prompt: 'q' }, undefined, new AbortController().signal)
    })
    expect(result.current.state.kind).toBe('idle')
    rerender({ shown: 'B' })
    await waitFor(() => expect(recorded(result.current.state)).toEqual({ kind: 'ended', key: 'B', trajectory }))
    rerender({ shown: 'A' })
    expect(result.current.state).toEqual({ kind: 'idle' })
    expect(cached('A')).toBeUndefined()
    expect(cached('B')).toEqual(trajectory)
  })

  test('keeps labels that its trajectory got in the meantime', async () => {
    answer = streamOf(events)
    const { result, cached, put } = page('B')
    put('B', { ...trajectory, title: 'said', tags: ['t'] })
    act(() => result.current.follow('r'))
    await waitFor(() => expect(result.current.state.kind).toBe('ended'))
    expect(cached('B')).toEqual({ ...trajectory, title: 'said', tags: ['t'] })
  })

  test('is not overwritten by an answer from the middle of the run', async () => {
    answer = streamOf(events)
    const { result, cached, asked } = page('B')
    const late = Promise.withResolvers<Trajectory>()
    const asking = asked('B', late.promise)
    act(() => result.current.follow('r'))
    await waitFor(() => expect(result.current.state.kind).toBe('ended'))
    late.resolve({ ...trajectory, segments: trajectory.segments.slice(0, 1), outcome: { kind: 'running' } })
    await act(() => asking)
    expect(cached('B')).toEqual(trajectory)
  })

  test.each(['another trajectory', 'another page'])('is dropped for %s', async (where) => {
    listener.left = 0
    answer = streamOf(events.slice(0, 4))
    const { result, rerender, unmount } = page('B')
    act(() => result.current.follow('r'))
    await waitFor(() => expect(result.current.state).toMatchObject({ kind: 'following', trajectory: { id: 't' } }))
    if (where === 'another page') unmount()
    else rerender({ shown: 'A' })
    await waitFor(() => expect(listener.left).toBe(1))
  })
})

describe('calls to Rollscope’s server', () => {
  test('have the token and, if they change something, the header', async () => {
    const sent: Record<string, unknown>[] = []
    answer = (request, response) => {
      sent.push(request.headers)
      response.end('{}')
    }
    storeToken('t0ken')
    await callApi('/api/x')
    await callApi('/api/x', { method: 'POST', json: { a: 1 } })
    expect(sent[0]).toMatchObject({ authorization: 'Bearer t0ken' })
    expect(sent[0]).not.toHaveProperty('x-rollscope')
    expect(sent[1]).toMatchObject({ 'x-rollscope': '1', 'content-type': 'application/json' })
  })

  test('fail with the server’s message, or with the page’s own if there is none', async () => {
    answer = (_request, response) => response.writeHead(409).end('{"code":"RUNNING","detail":"busy"}')
    await expect(callApi('/api/x')).rejects.toMatchObject({ code: 'RUNNING', message: 'busy' })
    answer = (_request, response) => response.writeHead(500).end('<html>')
    await expect(callApi('/api/x')).rejects.toMatchObject({ code: 'UNKNOWN' })
    answer = (_request, response) => response.destroy()
    await expect(callApi('/api/x')).rejects.toBeInstanceOf(ApiError)
  })

  test('fail as not answered after their time limit, also in the middle of the answer', async () => {
    const never = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    vi.stubGlobal('fetch', (_path: string, { signal }: { readonly signal: AbortSignal }) => never(signal))
    const save = () => fetchJson('/api/x', z.object({}), { method: 'PATCH', limitMs: 10 })
    await expect(save()).rejects.toMatchObject({ code: 'UNREACHABLE' })
    vi.stubGlobal('fetch', async (_path: string, { signal }: { readonly signal: AbortSignal }) => {
      const pull = () => never(signal)
      return new Response(new ReadableStream({ pull }))
    })
    await expect(save()).rejects.toMatchObject({ code: 'UNREACHABLE' })
  })

  test('lines are parsed for any split into chunks', async () => {
    answer = (_request, response) => {
      const text = events.map((event) => `${JSON.stringify(event)}\n`).join('')
      for (let at = 0; at < text.length; at += 7) response.write(text.slice(at, at + 7))
      response.end()
    }
    const read: unknown[] = []
    for await (const line of streamJsonLines(await callApi('/api/x'), '/api/x')) read.push(line)
    expect(read as RolloutEvent[]).toEqual(events)
  })

  // Joining the line with each part would take minutes.
  test('a line of 20 MB in small parts is read in linear time', async () => {
    const part = new TextEncoder().encode('x'.repeat(2000))
    const line = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('"'))
        for (let index = 0; index < 10_000; index++) controller.enqueue(part)
        controller.enqueue(new TextEncoder().encode('"\n'))
        controller.close()
      },
    })
    const read = await Array.fromAsync(streamJsonLines(new Response(line), '/api/x'))
    expect(read).toEqual(['x'.repeat(20_000_000)])
  })

  const schema = z.object({ servers: z.array(z.object({ name: z.string() })) })

  test('fetchJson returns what the schema describes', async () => {
    answer = (_request, response) => response.end('{"servers":[{"name":"a","more":1}]}')
    expect(await fetchJson('/api/servers', schema)).toEqual({ servers: [{ name: 'a' }] })
  })

  test.each([
    ['{"servers":[{"name":1}]}', 'servers[0].name: expected a string, found 1'],
    ['[]', 'expected an object, found an array of 0'],
    ['<html>', 'it is not JSON'],
  ])('fetchJson refuses the answer %s by its path and the place where it departs', async (text, why) => {
    answer = (_request, response) => response.end(text)
    const error = await fetchJson('/api/servers?q=secret', schema).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: 'BAD_ANSWER', message: `The answer of /api/servers cannot be read: ${why}.` })
  })

  test('fetchJson reports an answer that breaks off as a server that does not answer', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"servers"')
      setTimeout(() => response.destroy(), 5)
    }
    await expect(fetchJson('/api/servers', schema)).rejects.toMatchObject({ code: 'UNREACHABLE', status: 0 })
  })

  test('fetchJson rejects with the reason of its signal when that is aborted while the answer arrives', async () => {
    const leaving = new AbortController()
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"servers"')
      setTimeout(() => leaving.abort(), 5)
    }
    await expect(fetchJson('/api/servers', schema, { signal: leaving.signal })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })

  test('fetchLines returns the lines that its schema describes, and refuses the first that it does not', async () => {
    const read: unknown[] = []
    const all = async () => {
      for await (const line of fetchLines('/api/score', z.object({ n: z.int() }))) read.push(line)
    }
    answer = (_request, response) => response.end('{"n":1}\n{"n":"2"}\n{"n":3}\n')
    await expect(all()).rejects.toMatchObject({
      code: 'BAD_ANSWER',
      message: 'The answer of /api/score cannot be read: n: expected a number, found "2".',
    })
    answer = (_request, response) => response.end('{"n":4}\n{"n"\n')
    await expect(all()).rejects.toMatchObject({ code: 'BAD_ANSWER', message: expect.stringContaining('is not JSON') })
    expect(read).toEqual([{ n: 1 }, { n: 4 }])
  })

  test('No file of the page reads the JSON of an answer without its schema', () => {
    const files = globSync('{app,components,lib/browser}/**/*.{ts,tsx}').filter((file) => !/\.test\.tsx?$/.test(file))
    expect(files.length).toBeGreaterThan(300)
    // The reader of trajectories has its own check, in a worker.
    expect(files.filter((file) => readFileSync(file, 'utf8').includes('.json()')).sort()).toEqual([
      'lib/browser/api.ts',
      'lib/browser/workers/read-host.ts',
    ])
  })
})

import { afterEach, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { followLines, type Locks } from './follow-lines.ts'

afterEach(() => void vi.unstubAllGlobals())

/** Returns locks like those of a browser, which its pages share; each page is a caller. */
function createLocks(): Locks {
  const taken = new Set<string>()
  return {
    async request(name, _options, use) {
      if (taken.has(name)) return use(null)
      taken.add(name)
      try {
        return await use({ name })
      } finally {
        taken.delete(name)
      }
    },
  }
}

/** Returns a server whose streams stay open until `end`, and whose polls are answered at once. */
function serve(all: readonly number[]) {
  const requested: string[] = []
  const ends: (() => void)[] = []
  let written = 0
  vi.stubGlobal('fetch', async (address: string) => {
    requested.push(address)
    const query = new URL(address, 'http://x').searchParams
    const from = Number(query.get('from'))
    const text = (lines: readonly number[]) => lines.map((n) => `{"n":${n}}\n`).join('')
    if (query.get('until') === 'now') return new Response(text(all.slice(from, written)))
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        ends.push(() => {
          controller.enqueue(new TextEncoder().encode(text(all.slice(from))))
          controller.close()
        })
      },
    })
    return new Response(body)
  })
  const write = (count: number) => {
    written = count
  }
  return { requested, ends, write }
}

function page(path: string, last: number, locks: Locks, silentMs = 60_000) {
  const seen: number[] = []
  const connected: boolean[] = []
  const done = followLines(
    {
      path,
      signal: new AbortController().signal,
      schema: z.object({ n: z.int() }),
      onLine({ n }) {
        seen.push(n)
        return n === last ? 'done' : 'more'
      },
      onConnected: (isConnected) => connected.push(isConnected),
      onUnavailable: () => {},
    },
    { locks, pauseMs: 5, silentMs },
  )
  return { seen, connected, done }
}

test('Four pages of a browser follow a stream; a fifth one polls, so that a sixth can load', async () => {
  const { requested, ends, write } = serve([0, 1, 2])
  const locks = createLocks()
  const streaming = [1, 2, 3, 4].map((n) => page(`/s${n}`, 2, locks))
  await expect.poll(() => ends.length).toBe(4)
  write(2)
  const looking = page('/look', 2, locks)
  await expect.poll(() => looking.seen).toEqual([0, 1])
  write(3)
  await looking.done
  expect(looking.seen).toEqual([0, 1, 2])
  expect(looking.connected).not.toContain(false)
  const looks = requested.filter((address) => address.startsWith('/look'))
  expect(new Set(looks)).toEqual(new Set(['/look?from=0&until=now', '/look?from=2&until=now']))
  for (const end of ends) end()
  await Promise.all(streaming.map(({ done }) => done))
  expect(streaming.map(({ seen }) => seen)).toEqual(Array(4).fill([0, 1, 2]))
})

test('A page that polls takes over the stream of a page that closes', async () => {
  const { requested, ends } = serve([0])
  const locks = createLocks()
  const streaming = [1, 2, 3, 4].map((n) => page(`/s${n}`, 0, locks))
  await expect.poll(() => ends.length).toBe(4)
  const looking = page('/look', 0, locks)
  await expect.poll(() => requested).toContain('/look?from=0&until=now')
  ends[0]?.()
  await expect.poll(() => requested).toContain('/look?from=0')
  for (const end of ends.slice(1)) end()
  await Promise.all([...streaming, looking].map(({ done }) => done))
  expect(looking.seen).toEqual([0])
})

test('A stream is requested again when a proxy answers in place of the application', async () => {
  const answers = [
    new Response('<h1>504 Gateway Time-out</h1>', { status: 504 }),
    new Response('<h1>502 Bad Gateway</h1>', { status: 502 }),
    new Response('{"n":0}\n'),
  ]
  vi.stubGlobal('fetch', async () => answers.shift())
  const { done, seen, connected } = page('/proxied', 0, createLocks())
  await done
  expect([seen, connected]).toEqual([[0], [false, false, true]])
})

test('A stream whose connection is lost without an end is requested again from the next line', async () => {
  const requested: string[] = []
  vi.stubGlobal('fetch', async (address: string, { signal }: RequestInit) => {
    requested.push(address)
    const line = `{"n":${requested.length - 1}}\n`
    return new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(line))
          signal?.addEventListener('abort', () => controller.error(signal.reason))
        },
      }),
    )
  })
  const { done, seen, connected } = page('/silent', 1, createLocks(), 20)
  await done
  expect([requested, seen, connected]).toEqual([
    ['/silent?from=0', '/silent?from=1'],
    [0, 1],
    [true, true],
  ])
})

test('A long line that arrives slowly is read to its end', async () => {
  let requests = 0
  vi.stubGlobal('fetch', async (_address: string, { signal }: RequestInit) => {
    requests++
    const parts = [...'{"n":0}\n'].values()
    return new Response(
      new ReadableStream({
        start: (controller) => signal?.addEventListener('abort', () => controller.error(signal.reason)),
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 200))
          const { value, done } = parts.next()
          if (!done && !signal?.aborted) controller.enqueue(new TextEncoder().encode(value))
        },
      }),
    )
  })
  const { done, seen } = page('/slow', 0, createLocks(), 1_200)
  await done
  expect([requests, seen]).toEqual([1, [0]])
})

test('A request for a stream that nobody answers is repeated', async () => {
  let requests = 0
  vi.stubGlobal('fetch', async (_address: string, { signal }: RequestInit) => {
    if (++requests === 2) return new Response('{"n":0}\n')
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  })
  const { done, seen } = page('/unanswered', 0, createLocks(), 20)
  await done
  expect([requests, seen]).toEqual([2, [0]])
})

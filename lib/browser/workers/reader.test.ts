import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { labelsOf } from '#lib/trajectory/format/labels.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import { PACKED_TYPE, packedAnswer, packedBytes } from '#lib/trajectory/tokens/packed-bytes.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { fakeWorker } from '#testing/worker.ts'
import { ApiError } from '../api.ts'
import { FileError, SeveralRecordsError } from '../files/file-error.ts'
import { READ_ERRORS } from '../files/read-errors.ts'
import { readTrajectory } from './read-host.ts'
import { createReader } from './reader.ts'

const TEXT = readFileSync('public/examples/two-steps.json', 'utf8')
const trajectory = exampleTrajectory('two-steps')

beforeEach(() => {
  vi.stubGlobal('window', { location: { href: 'http://page.test/t/a' }, localStorage: { getItem: () => 't0ken' } })
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

/** Returns a reader whose workers run in this thread. */
function threadless() {
  const workers: ReturnType<typeof readWorker>[] = []
  const reader = createReader({
    createWorker: () => {
      const worker = readWorker()
      workers.push(worker)
      return worker as never
    },
    idleMs: 1_000,
    newId: () => 'id-of-mine',
  })
  return { reader, workers }
}
/** Returns a worker that gets files themselves, because Node copies a File as a Blob without a name. */
const readWorker = () =>
  fakeWorker(
    () => readTrajectory,
    READ_ERRORS,
    (message) => message,
  )

const fileOf = (text: string, name = 'a.json') => new File([text], name)
const ongoing = () => new AbortController().signal
const NOW = '2026-01-02T03:04:05.000Z'

describe('a file in the reader worker', () => {
  test('arrives packed and equal, with its buffers transferred', async () => {
    const { reader, workers } = threadless()
    const read = await reader.file(fileOf(TEXT), NOW, ongoing())
    expect(unpack(read.trajectory)).toEqual(trajectory)
    expect(read.trajectory.segments[0]?.ids).toBeInstanceOf(Int32Array)
    expect(read.count).toBe(1)
    const transfer = workers[0]?.posted[0]?.transfer ?? []
    expect(transfer.length).toBeGreaterThan(0)
    expect(transfer.every(({ byteLength }) => byteLength === 0)).toBe(true)
  })

  test('with several trajectories shows the first, with an id and a time of its own if it has none', async () => {
    const { reader } = threadless()
    const read = await reader.file(fileOf('{"token_ids": [1]}\n{"token_ids": [2]}', 'step.jsonl'), NOW, ongoing())
    expect(read).toMatchObject({ count: 2, trajectory: { id: 'id-of-mine', createdAt: NOW } })
    expect(read.trajectory).toMatchObject({ provenance: { kind: 'import', file: 'step.jsonl' } })
  })

  test('shows its good records and reports the broken ones with line and path', async () => {
    const { reader } = threadless()
    const lines = ['{"token_ids": [', '{"token_ids": [1]}', '{"token_ids": ["x"]}', ...Array(100).fill('7')]
    const { trajectory, count, failed } = await reader.file(fileOf(lines.join('\n'), 'step.jsonl'), NOW, ongoing())
    expect(count).toBe(1)
    expect(trajectory.segments[0]?.ids).toEqual(Int32Array.of(1))
    expect(failed.count).toBe(102)
    expect(failed.first).toHaveLength(100)
    expect(failed.first.slice(0, 2)).toMatchObject([
      { line: 1, path: '', expected: 'JSON', message: expect.stringMatching(/^line 1: expected JSON, found /) },
      { line: 3, path: 'token_ids[0]', expected: 'a number', found: '"x"' },
    ])
  })

  test('with several trajectories shows the requested one', async () => {
    const { reader } = threadless()
    const file = fileOf('{"token_ids": [1]}\n{"token_ids": [2, 3]}')
    const { trajectory } = await reader.file(file, NOW, ongoing(), { at: 1 })
    expect(trajectory.segments.map(({ ids }) => Array.from(ids))).toEqual([[2, 3]])
  })

  test.each([
    ['lines', '{"token_ids": [1]}\n{"token_ids": [2]}\n', SeveralRecordsError],
    ['a list', '[{"token_ids": [1]}, {"token_ids": [2]}]', SeveralRecordsError],
    ['lines of which the first is broken', '{"token_ids": [\n{"token_ids": [2]}\n', SeveralRecordsError],
    ['one value over several lines', '{"token_ids":\n[1]}\n', undefined],
    ['one value', '{"token_ids": [1]}', undefined],
  ])('that consists of %s is refused if only a file of one record may be read', async (_, text, refused) => {
    const reading = threadless().reader.file(fileOf(text), NOW, ongoing(), { refusesSeveral: true })
    const error = await reading.then(
      () => undefined,
      (error: Error) => error,
    )
    expect(error?.constructor).toBe(refused)
  })

  test('that is not a trajectory is refused with the reason and a hint', async () => {
    const { reader } = threadless()
    const reading = reader.file(fileOf('{"hello": 1}'), NOW, ongoing())
    await expect(reading).rejects.toBeInstanceOf(FileError)
    await expect(reading).rejects.toMatchObject({
      message: expect.stringMatching(/^a\.json cannot be opened: expected a trajectory/),
      hint: expect.stringMatching(/^Rollscope opens/),
    })
  })

  test('is read at once, because each part takes time', async () => {
    const file = fileOf(TEXT)
    const slices: unknown[] = []
    const slice = file.slice.bind(file)
    file.slice = (...range) => {
      slices.push(range)
      return slice(...range)
    }
    await threadless().reader.file(file, NOW, ongoing())
    expect(slices).toEqual([[0, file.size]])
  })

  test('that cannot be read is reported', async () => {
    const { reader } = threadless()
    const gone = fileOf(TEXT)
    gone.slice = () => {
      throw new DOMException('it changed on disk', 'NotReadableError')
    }
    await expect(reader.file(gone, NOW, ongoing())).rejects.toThrow('a.json cannot be read: it changed on disk')
  })
})

describe('an answer of the server', () => {
  test('is requested with the launch token', async () => {
    const asked: unknown[] = []
    vi.stubGlobal('fetch', async (address: string, init: RequestInit) => {
      asked.push([address, init.method, new Headers(init.headers).get('authorization'), init.body])
      return new Response(TEXT)
    })
    const { reader } = threadless()
    expect(unpack(await reader.call('/api/trajectories/a', ongoing()))).toEqual(trajectory)
    await reader.call('/api/trajectories/a/tokenizer', ongoing(), { tokenizer: 'x' })
    expect(asked).toEqual([
      ['/api/trajectories/a', 'GET', 'Bearer t0ken', undefined],
      ['/api/trajectories/a/tokenizer', 'POST', 'Bearer t0ken', '{"tokenizer":"x"}'],
    ])
  })

  test('is read as packed bytes without a worker where the server has them, and as JSON where these have another version', async () => {
    const accepted: (string | null)[] = []
    const bytes = packedBytes(trajectory)
    vi.stubGlobal('fetch', async (_: string, init: RequestInit) => {
      const accept = new Headers(init.headers).get('accept')
      accepted.push(accept)
      return accept?.includes(PACKED_TYPE)
        ? new Response(packedAnswer({ ...labelsOf(trajectory), title: 'Mine' }, bytes), {
            headers: { 'content-type': PACKED_TYPE },
          })
        : new Response(TEXT)
    })
    const { reader, workers } = threadless()
    const read = async () => unpack(await reader.call('/api/trajectories/a', ongoing()))
    expect(await read()).toEqual({ ...trajectory, title: 'Mine' })
    expect(workers).toHaveLength(0)
    bytes.set([99], 4)
    expect(await read()).toEqual(trajectory)
    expect(accepted).toEqual([expect.stringContaining(PACKED_TYPE), expect.stringContaining(PACKED_TYPE), null])
  })

  test('that refuses gives the same error as on the page', async () => {
    const problem = {
      code: 'GONE',
      detail: 'it is gone',
      hint: 'look elsewhere',
      field: 'a.b',
      remedy: 'server-tokenizer',
    }
    vi.stubGlobal('fetch', async () => new Response(JSON.stringify(problem), { status: 404 }))
    const reading = threadless().reader.call('/api/trajectories/a', ongoing())
    await expect(reading).rejects.toEqual(
      new ApiError(404, 'GONE', 'it is gone', 'look elsewhere', { field: 'a.b', remedy: 'server-tokenizer' }),
    )
    await expect(reading).rejects.toMatchObject({ status: 404, field: 'a.b', remedy: 'server-tokenizer' })
  })

  test('that is not a trajectory is reported with the position', async () => {
    vi.stubGlobal('fetch', async () => new Response('{"format": "rollscope.trajectory/1"}'))
    await expect(threadless().reader.call('/x', ongoing())).rejects.toMatchObject({
      code: 'BAD_TRAJECTORY',
      message: expect.stringMatching('id: expected a string'),
    })
  })

  test('that ends before its last byte is reported as a lost connection', async () => {
    const body = new ReadableStream({
      pull(controller) {
        controller.error(new TypeError('network error'))
      },
    })
    for (const type of [PACKED_TYPE, 'application/json']) {
      vi.stubGlobal('fetch', async () => new Response(body, { headers: { 'content-type': type } }))
      await expect(threadless().reader.call('/x', ongoing())).rejects.toMatchObject({ code: 'UNREACHABLE' })
    }
  })

  test('is cancelled when nobody waits for it', async () => {
    let asked: AbortSignal | undefined
    vi.stubGlobal('fetch', async (_: string, { signal }: { readonly signal: AbortSignal }) => {
      signal.throwIfAborted()
      asked = signal
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const { reader } = threadless()
    const controller = new AbortController()
    const reading = reader.call('/x', controller.signal)
    await expect.poll(() => asked).toBeDefined()
    controller.abort(new Error('left'))
    await expect(reading).rejects.toThrow('left')
    await expect.poll(() => asked?.aborted).toBe(true)
    await expect(reader.call('/x', controller.signal)).rejects.toThrow('left')
  })
})

describe('the reader worker', () => {
  test('is kept while there is something to read, and a while longer', async () => {
    const { reader, workers } = threadless()
    reader.prepare()
    await Promise.all([reader.file(fileOf(TEXT), NOW, ongoing()), reader.file(fileOf(TEXT), NOW, ongoing())])
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await reader.file(fileOf(TEXT), NOW, ongoing())
    expect(workers).toHaveLength(1)
    vi.advanceTimersByTime(999)
    expect(workers[0]?.isAlive).toBe(true)
    vi.advanceTimersByTime(1)
    expect(workers[0]?.isAlive).toBe(false)
    await reader.file(fileOf(TEXT), NOW, ongoing())
    expect(workers).toHaveLength(2)
  })

  test('that fails rejects its read; the next read gets another worker', async () => {
    const { reader, workers } = threadless()
    const reading = reader.file(fileOf(TEXT), NOW, ongoing())
    workers[0]?.onerror?.({ message: 'out of memory' } as ErrorEvent)
    await expect(reading).rejects.toMatchObject({
      code: 'WORKER_FAILED',
      message: expect.stringMatching('out of memory'),
    })
    expect((await reader.file(fileOf(TEXT), NOW, ongoing())).count).toBe(1)
  })
})

import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RunComparison } from '#lib/analysis/compare/tasks.ts'
import { checkSample } from '#lib/analysis/corpus/check.ts'
import type { CorpusSettings } from '#lib/analysis/corpus/settings.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { fakeWorker } from '#testing/worker.ts'
import { ApiError } from '../api.ts'
import { createRecordHost } from '../workers/record-host.ts'
import { fileRecords } from '../workers/records.ts'
import type { CorpusSource } from './corpus.ts'
import { createCorpusStore } from './corpus-run.ts'
import { FileError } from './file-error.ts'
import { READ_ERRORS } from './read-errors.ts'

const tiny = loadedTokenizer(tokenizerFolder('tiny-qwen3'), 'built-in')
const TEXT = readFileSync('public/examples/retokenization-drift.json', 'utf8')
const drifting = exampleTrajectory('retokenization-drift')
const line = JSON.stringify(drifting)

/** Returns a worker that gets files themselves, because Node copies a File as a Blob without a name. */
const recordWorker = () => fakeWorker(createRecordHost, READ_ERRORS, (message) => message) as never

/** Returns a store that compares in this thread. */
function reporting({
  stored = {} as Record<string, TrajectoryView>,
  pages = [] as (readonly string[])[],
  workers = 1,
  /** Resolves when the comparison of a sample with this position may end. */
  mayEnd = (_place: unknown): unknown => undefined,
} = {}) {
  const [released, asked] = [[] as unknown[], [] as (readonly string[])[]]
  const run = (async (_name: string, { place, as }: never, { trajectories, tokenizers }: never) => {
    asked.push(tokenizers)
    await mayEnd(place)
    if (tokenizers[0] !== 'built-in') throw new ApiError(404, 'TOKENIZER_NOT_FOUND', 'there is none', 'name another')
    return checkSample(place, { as, trajectory: trajectories[0], tokenizer: tiny, template: undefined })
  }) as unknown as RunComparison
  let page = 0
  const store = createCorpusStore({
    async readStored(key) {
      const found = stored[key]
      if (!found) throw new ApiError(404, 'NO_TRAJECTORY', `there is no ${key}`)
      return found
    },
    async listStored() {
      const keys = pages[page++] ?? []
      return { trajectories: keys.map((key) => ({ key, tokens: 10 })), ...(page < pages.length && { next: 'on' }) }
    },
    fileRecords: (file, signal) => fileRecords(file, signal, recordWorker),
    startWorkers: () =>
      Array.from({ length: workers }, () => ({
        run,
        release: (trajectory) => released.push(trajectory),
        dispose: () => {},
      })),
    now: () => performance.now(),
    tellMs: 0,
  })
  const show = (source: CorpusSource, check: Partial<CorpusSettings> = {}) =>
    store.show({ source, check: { as: { kind: 'text' }, otherwise: undefined, ...check } })
  const ended = () => expect.poll(() => store.state().status.kind).not.toBe('running')
  return { store, show, ended, released, asked }
}

const fileOf = (text: string, name = 'a.jsonl') => new File([text], name, { lastModified: 0 })

beforeEach(() => {
  vi.stubGlobal('window', {})
})
afterEach(() => {
  vi.unstubAllGlobals()
})

describe('the corpus report of files', () => {
  test('reads record by record: valid lines are checked, invalid ones reported, all with their positions', async () => {
    const { store, show, ended, released } = reporting()
    show({ kind: 'files', files: [fileOf(`${line}\n{"format": "ro\n\n${line}`), fileOf(TEXT), fileOf(TEXT, 'b.json')] })
    await ended()
    const { status, samples, share, totals } = store.state()
    expect([status.kind, share]).toEqual(['finished', 1])
    expect(samples.map(({ kind, place }) => [kind, place])).toEqual([
      ['checked', { kind: 'file', file: 'a.jsonl', record: 1, line: 1 }],
      ['unchecked', { kind: 'file', file: 'a.jsonl', record: 2, line: 2 }],
      ['checked', { kind: 'file', file: 'a.jsonl', record: 3, line: 4 }],
      // This is another file of the same name.
      ['checked', { kind: 'file', file: 'a.jsonl (2)', record: 1 }],
      ['checked', { kind: 'file', file: 'b.json', record: 1 }],
    ])
    expect(totals.samples.checked).toBe(4)
    expect(released).toHaveLength(4)
  })

  test('reads no further than requested', async () => {
    let reads = 0
    const file = fileOf(`${line}\n`.repeat(Math.ceil((4 << 20) / line.length)))
    const slice = file.slice.bind(file)
    file.slice = (...range) => {
      reads++
      return slice(...range)
    }
    const records = fileRecords(file, new AbortController().signal, recordWorker)
    for (const number of [1, 2, 3])
      expect((await records.next()).value).toMatchObject({ ok: true, line: number, trajectory: { id: drifting.id } })
    // The beginning, to recognise the kind of file, and the first megabyte.
    expect(reads).toBe(2)
    await records.return(undefined)
  })

  test('keeps its samples if a file cannot be read further', async () => {
    const { store, show, ended } = reporting()
    const file = fileOf(`${line}\n${' '.repeat(2 << 20)}`)
    const slice = file.slice.bind(file)
    file.slice = (start, end) => {
      if ((start ?? 0) > 0) throw new DOMException('it changed on disk', 'NotReadableError')
      return slice(start, end)
    }
    show({ kind: 'files', files: [file] })
    await ended()
    const { status, samples } = store.state()
    expect(status).toMatchObject({ kind: 'failed', error: expect.any(FileError) })
    expect(status.kind === 'failed' && status.error.message).toMatch('a.jsonl cannot be read: it changed on disk')
    expect(samples).toHaveLength(1)
  })

  test('are compared by every worker at the same time and reported in their order', async () => {
    const first = Promise.withResolvers<void>()
    const compared: number[] = []
    const { store, show, ended } = reporting({
      workers: 3,
      async mayEnd(place) {
        const { record } = place as { record: number }
        compared.push(record)
        // The first sample ends after the two that are compared beside it have begun.
        if (record === 1) await first.promise
        if (record === 3) first.resolve()
      },
    })
    show({ kind: 'files', files: [fileOf(`${line}\n`.repeat(7))] })
    await ended()
    const { samples, status } = store.state()
    expect(status.kind).toBe('finished')
    expect(samples.map(({ place }) => place.kind === 'file' && place.record)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(compared).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  test('reach a worker while it compares the one before', async () => {
    const second = Promise.withResolvers<void>()
    const compared: number[] = []
    const { store, show, ended } = reporting({
      async mayEnd(place) {
        const { record } = place as { record: number }
        compared.push(record)
        if (record === 1) await second.promise
        if (record === 2) second.resolve()
      },
    })
    show({ kind: 'files', files: [fileOf(`${line}\n`.repeat(4))] })
    await ended()
    expect(store.state().samples).toHaveLength(4)
    expect(compared).toEqual([1, 2, 3, 4])
  })

  test('keep the samples that were read before a file cannot be read further, with several workers', async () => {
    const { store, show, ended } = reporting({ workers: 4 })
    const file = fileOf(`${line}\n${line}\n${' '.repeat(2 << 20)}`)
    const slice = file.slice.bind(file)
    file.slice = (start, end) => {
      if ((start ?? 0) > 0) throw new DOMException('it changed on disk', 'NotReadableError')
      return slice(start, end)
    }
    show({ kind: 'files', files: [file] })
    await ended()
    const { status, samples } = store.state()
    expect(status.kind).toBe('failed')
    expect(samples.map(({ kind }) => kind)).toEqual(['checked', 'checked'])
  })

  test('checks samples of ids only with the chosen tokenizer', async () => {
    const { store, show, ended, asked } = reporting()
    const ids = drifting.segments.flatMap((segment) => segment.ids)
    const text = JSON.stringify({ token_ids: ids, loss_mask: ids.map(() => 1) })
    show({ kind: 'files', files: [fileOf(text)] }, { otherwise: 'built-in' })
    await ended()
    expect(store.state().samples).toMatchObject([{ kind: 'checked', id: 'record-1' }])
    expect(asked).toEqual([['built-in']])
  })
})

describe('the corpus report of the library', () => {
  const stored = { a: pack(drifting).trajectory, b: pack({ ...drifting, id: 'b' }).trajectory }

  test('reads page by page and reports deleted trajectories', async () => {
    const { store, show, ended } = reporting({ stored, pages: [['a', 'gone'], ['b']] })
    show({ kind: 'library', filter: {} })
    await ended()
    expect(store.state().samples.map(({ kind, place }) => [kind, place.kind === 'stored' && place.key])).toEqual([
      ['checked', 'a'],
      ['unchecked', 'gone'],
      ['checked', 'b'],
    ])
  })

  test('requests a missing tokenizer once', async () => {
    const other = { ...stored.a, model: { ...stored.a.model, tokenizer: { name: 'x/y', specialIds: [] } } }
    const { store, show, ended, asked } = reporting({ stored: { a: other, b: other } })
    show({ kind: 'keys', keys: ['a', 'b'] })
    await ended()
    expect(store.state().samples).toMatchObject([
      { kind: 'unchecked', why: 'The tokenizer x/y is not available.', detail: 'there is none', hint: 'name another' },
      { kind: 'unchecked', why: 'The tokenizer x/y is not available.' },
    ])
    expect(asked).toHaveLength(1)
  })

  test('keeps its samples when stopped; the same request does not restart it, another one does', async () => {
    const { store, show, ended } = reporting({ stored })
    const keys = Array.from({ length: 500 }, () => 'a')
    store.subscribe(() => store.state().samples.length === 3 && store.stop())
    show({ kind: 'keys', keys })
    await ended()
    const { status, samples } = store.state()
    expect(status.kind).toBe('stopped')
    expect(samples).toHaveLength(3)
    show({ kind: 'keys', keys })
    expect(store.state().samples).toBe(samples)
    show({ kind: 'keys', keys: ['b'] })
    await ended()
    expect(store.state()).toMatchObject({ status: { kind: 'finished' }, samples: [{ id: 'b' }] })
  })
})

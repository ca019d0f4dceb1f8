import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ImportResult } from '#lib/api/imported.ts'
import { openText } from '#lib/formats/reading/open.ts'
import { parquetWriter } from '#lib/formats/writing/parquet.ts'
import { encodeRecords } from '#lib/formats/writing/writer.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { fakeWorker } from '#testing/worker.ts'
import { FileError } from '../files/file-error.ts'
import { READ_ERRORS } from '../files/read-errors.ts'
import { readTrajectory } from '../workers/read-host.ts'
import { createReader } from '../workers/reader.ts'
import { createIndexHost } from './index-host.ts'
import { createIndexedFile, mayBeListed } from './indexed-file.ts'
import { recordsFile } from './record-files.ts'
import { type FileSampleRow, placeWords } from './sample-row.ts'

const sample = (id: number, fields: object = {}) => JSON.stringify({ token_ids: [id, 1], ...fields })
const lines = (count: number) => Array.from({ length: count }, (_, index) => `${sample(index)}\n`).join('')
const fileOf = (text: string, name = 'step.jsonl') => new File([text], name, { lastModified: 0 })
const ongoing = () => new AbortController().signal
const IMPORTED: ImportResult = {
  format: 'strands-sglang',
  trajectories: ['k'],
  existing: 0,
  first: { id: 'i', createdAt: '' },
  failed: { count: 0, first: [] },
  lacked: [],
}

/** Returns a store whose workers run in this thread and answer with one record each. */
function store() {
  const workers: { readonly isAlive: boolean }[] = []
  let time = 0
  const stored: File[] = []
  // Node copies a File as a Blob without a name, so messages are not copied.
  const local = <T>(message: T): T => message
  const file = createIndexedFile({
    createWorker: () => {
      const worker = fakeWorker(() => createIndexHost(() => (time += 1000)), READ_ERRORS, local)
      workers.push(worker)
      return worker as never
    },
    reader: createReader({
      createWorker: () => fakeWorker(() => readTrajectory, READ_ERRORS, local) as never,
      idleMs: 1000,
      newId: () => 'new',
    }),
    importFile: async (one) => {
      stored.push(one)
      return IMPORTED
    },
  })
  const shown = () => {
    const state = file.state()
    if (state.kind === 'none') throw new Error('no file is shown')
    return state
  }
  const ended = async (kind = 'finished') => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = () => shown().status.kind === kind && resolve()
    const unsubscribe = file.subscribe(look)
    look()
    await promise
    unsubscribe()
  }
  return { ...file, workers, stored, shown, ended }
}

const idsOf = (rows: readonly FileSampleRow[]) => rows.map((row) => (row.ok ? row.tokens : row.message))

describe('The list of a file', () => {
  test('has the first rows at once and grows until the file ends, which ends the worker', async () => {
    const { open, shown, ended, workers } = store()
    expect(await open(fileOf(lines(5)), ongoing())).toBe(true)
    expect(shown()).toMatchObject({ name: 'step.jsonl', status: { kind: 'indexing' }, rows: [{ line: 1, ok: true }] })
    await ended()
    expect(shown()).toMatchObject({ bytes: shown().size, rows: { length: 5 } })
    expect(workers.map(({ isAlive }) => isAlive)).toEqual([false])
  })

  test('shows question, reward, group, outcome and sizes of a trajectory, and the reason of a broken record', async () => {
    const { open, shown, ended } = store()
    const slime = {
      index: 3,
      group_index: 7,
      prompt: `${'a'.repeat(119)}😀?`,
      tokens: [1, 2, 3],
      response_length: 2,
      reward: 0.5,
      loss_mask: [1, 0],
      status: 'completed',
    }
    await open(fileOf(`${JSON.stringify(slime)}\n{"tokens": [1\n`), ongoing())
    await ended()
    const [first, second] = shown().rows
    expect(first).toMatchObject({ ok: true, question: 'a'.repeat(119), reward: 0.5, tokens: 3, trained: 1, turns: 1 })
    expect(second).toMatchObject({ ok: false, line: 2, message: expect.stringMatching(/^line 2: expected JSON/) })
  })

  test('is not started for a file that must be opened as a whole', async () => {
    const { open, state, workers } = store()
    expect(await open(fileOf(`${sample(1)}\n`), ongoing())).toBe(false)
    expect(state().kind).toBe('none')
    expect(workers.map(({ isAlive }) => isAlive)).toEqual([false])
  })

  test('is replaced by that of another file, and stays if the other file cannot be listed', async () => {
    const { open, shown, ended } = store()
    await open(fileOf(lines(3), 'a.jsonl'), ongoing())
    await open(fileOf(lines(4), 'b.jsonl'), ongoing())
    await ended()
    expect(shown()).toMatchObject({ name: 'b.jsonl', opening: 2, rows: { length: 4 } })
    await open(fileOf('', 'empty.jsonl'), ongoing())
    expect(shown().name).toBe('b.jsonl')
  })

  test('is not started for an aborted request', async () => {
    const { open, state } = store()
    const controller = new AbortController()
    const opening = open(fileOf(lines(3)), controller.signal)
    controller.abort(new Error('another file'))
    await expect(opening).rejects.toThrow('another file')
    expect(state().kind).toBe('none')
  })

  test('reports a file that is changed while it is read, and keeps its rows', async () => {
    const { open, shown, ended } = store()
    const file = fileOf(`${sample(1).padEnd(1_500_000)}\n`.repeat(4))
    await open(file, ongoing())
    Object.assign(file, { slice: () => ({ arrayBuffer: () => Promise.reject(new Error('gone')) }) })
    await ended('failed')
    expect(shown().status).toMatchObject({ error: expect.any(FileError) })
    expect(shown().rows.length).toBeGreaterThan(0)
  })

  test('keeps a selection', async () => {
    const { open, shown, choose } = store()
    await open(fileOf(lines(3)), ongoing())
    choose(new Set([1]))
    expect([...shown().chosen]).toEqual([1])
  })
})

test('Stops and resumes at any rows give the same rows as an index without a stop', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: 11 }), { maxLength: 3 }), async (stops) => {
      const { open, stop, resume, shown, ended, subscribe } = store()
      subscribe(() => {
        if (shown().status.kind === 'indexing' && stops.includes(shown().rows.length)) {
          stops.splice(stops.indexOf(shown().rows.length), 1)
          stop()
          setTimeout(resume)
        }
      })
      await open(fileOf(lines(12)), ongoing())
      await ended()
      expect(shown().rows.map((row) => placeWords(row))).toEqual(
        Array.from({ length: 12 }, (_, index) => `line ${index + 1}`),
      )
    }),
  )
})

test('A stopped list keeps its rows, and its worker is ended with the next file', async () => {
  const { open, stop, shown, ended, workers } = store()
  await open(fileOf(lines(50)), ongoing())
  stop()
  expect(shown().status.kind).toBe('stopped')
  const { length } = shown().rows
  await open(fileOf(lines(2)), ongoing())
  await ended()
  expect(length).toBeLessThan(50)
  expect(workers.map(({ isAlive }) => isAlive)).toEqual([false, false])
})

test('A row is read again from its bytes, also one of several trajectories of a record', async () => {
  const { open, read, shown, ended } = store()
  const dump = JSON.stringify({ samples: [5, 6].map((id) => ({ tokens: [id], response_length: 1 })) })
  await open(fileOf(`${dump}\n${dump}\n`), ongoing())
  await ended()
  expect(idsOf(shown().rows)).toEqual([1, 1, 1, 1])
  const [, second, third] = shown().rows
  if (!second || !third) throw new Error('the dump has rows')
  const ids = async (row: FileSampleRow) => Array.from((await read(row, ongoing())).segments.at(-1)?.ids ?? [])
  expect([await ids(second), await ids(third)]).toEqual([[6], [5]])
  expect(placeWords(second)).toBe('line 1, sample 2')
})

test('A selection is stored as a file of its records, and all as the file', async () => {
  const { open, store: keep, stored, shown, ended } = store()
  const file = fileOf(lines(4))
  await open(file, ongoing())
  await ended()
  const [, second, , fourth] = shown().rows
  if (!second || !fourth) throw new Error('the file has four rows')
  await keep([second, fourth])
  await keep('all')
  expect(await stored[0]?.text()).toBe(`${sample(1)}\n${sample(3)}\n`)
  expect(stored[0]?.name).toBe('step.jsonl')
  expect(stored[1]).toBe(file)
})

describe('A Parquet file', () => {
  const { value } = parquetWriter.write(exampleTrajectory('two-steps'))
  const parquet = (rewards: readonly number[], name = 'step.parquet') => {
    const records = rewards.map((reward) => ({ ...value, reward, id: `row ${reward}` }))
    const bytes = parquetWriter.encoding ? encodeRecords(parquetWriter.encoding, records) : ''
    return new File([new Uint8Array(Buffer.from(bytes))], name, { lastModified: 0 })
  }

  test('is listed by its rows, each of which is read again alone', async () => {
    const { open, read, shown, ended } = store()
    expect(await mayBeListed(parquet([1, 2, 3]))).toBe(true)
    expect(await open(parquet([1, 2, 3]), ongoing())).toBe(true)
    await ended()
    expect(shown().rows.map((row) => [placeWords(row), row.ok && row.reward])).toEqual([
      ['row 1', 1],
      ['row 2', 2],
      ['row 3', 3],
    ])
    expect(shown().bytes).toBe(shown().size)
    const [, second] = shown().rows
    if (!second) throw new Error('the table has rows')
    expect(await read(second, ongoing())).toMatchObject({ reward: 2, provenance: { file: 'step.parquet' } })
  })

  test('is stored as the file, or a selection as lines of its records', async () => {
    const { open, store: keep, stored, shown, ended } = store()
    const file = parquet([1, 2, 3])
    await open(file, ongoing())
    await ended()
    await keep(shown().rows.filter((_, index) => index !== 1))
    await keep('all')
    const lines = (await stored[0]?.text())?.trimEnd().split('\n') ?? []
    expect(lines.map((line) => JSON.parse(line).reward)).toEqual([1, 3])
    expect([stored[0]?.name, stored[1]]).toEqual(['step.parquet', file])
  })

  test('that was changed after it was listed is refused with advice, and the list stays', async () => {
    const { open, read, shown, ended } = store()
    const file = parquet([1, 2, 3])
    await open(file, ongoing())
    await ended()
    const [, , third] = shown().rows
    if (!third || !('row' in third)) throw new Error('the table has rows')
    await expect(read({ ...third, row: 7 }, ongoing())).rejects.toMatchObject({
      message: 'step.parquet cannot be read: expected a row 7, found none',
      hint: expect.stringContaining('open it again'),
    })
    expect(shown().rows).toHaveLength(3)
    const aborted = new AbortController()
    const reading = read(third, aborted.signal)
    aborted.abort(new Error('another row'))
    await expect(reading).rejects.toThrow('another row')
  })

  test('with one row is opened as a whole', async () => {
    expect(await store().open(parquet([1]), ongoing())).toBe(false)
  })
})

test('No file is open before one is listed', async () => {
  await expect(store().store('all')).rejects.toBeInstanceOf(FileError)
})

test.each([
  ['lines', lines(3)],
  ['a list in one line', `[${[0, 1, 2].map((id) => sample(id)).join(',')}]`],
  [
    'a list over several lines',
    JSON.stringify(
      [0, 1, 2].map((id) => ({ token_ids: [id, 1] })),
      null,
      2,
    ),
  ],
  ['lists in lines', `[${sample(0)}]\n[${sample(1)},${sample(2)}]\n`],
])('A file of chosen records of %s opens with these records', async (_what, text) => {
  const { open, shown, ended } = store()
  await open(fileOf(text), ongoing())
  await ended()
  const chosen = shown().rows.filter((_, index) => index !== 1)
  const opened = openText(await recordsFile(fileOf(text), chosen).text(), {
    file: undefined,
    now: '',
    newId: () => 'i',
  })
  expect(opened.ok && opened.trajectories.map(({ segments }) => segments[0]?.ids[0])).toEqual([0, 2])
})

test('A file may be listed if it has several records', async () => {
  expect([await mayBeListed(fileOf(lines(2))), await mayBeListed(fileOf(sample(1)))]).toEqual([true, false])
})

import { expect, test } from 'vitest'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { ApiError } from '../api.ts'
import { FileError, ServerFileError, SeveralRecordsError } from './file-error.ts'
import { createOpenedFile } from './opened-file.ts'

const trajectory = exampleTrajectory('two-steps')
const other: TrajectoryView = { ...trajectory, id: 'other' }

const NO_FAILED = { count: 0, first: [] }
const problem = {
  path: '',
  expected: 'JSON',
  found: '7',
  message: 'line 2: expected JSON, found 7',
  hint: 'Repair it.',
}
const FAILED = { count: 1, first: [{ line: 2, ...problem }] }

type Imports = Parameters<typeof createOpenedFile>[0]['importFile']
type Answer = Awaited<ReturnType<Imports>>

/** Returns a store whose files have a name that says their content: `a`, `b`, `bad` or `sqlite`. */
function opened(importing: (file: File) => Promise<Omit<Answer, 'failed'> & Partial<Answer>>) {
  const stored: (readonly [string, TrajectoryView | undefined])[] = []
  const importFile: Imports = async (file) => ({ failed: NO_FAILED, ...(await importing(file)) })
  const store = createOpenedFile({
    reader: {
      file: async ({ name }, _now, _signal, { refusesSeveral } = {}) => {
        if (name === 'bad') throw new FileError('bad cannot be opened', 'open another')
        if (name === 'sqlite') throw new ServerFileError('only the server reads it')
        if (name !== 'a' && refusesSeveral) throw new SeveralRecordsError('it has several')
        return name === 'a'
          ? { trajectory, count: 1, failed: NO_FAILED }
          : { trajectory: other, count: 3, failed: FAILED }
      },
    },
    importFile,
    importUrl: async (url) => importFile(new File([], url)),
    onStored: (key, view) => stored.push([key, view]),
    now: () => new Date(0),
  })
  const states: string[] = []
  store.subscribe(() => {
    const state = store.state()
    states.push(state.kind === 'shown' ? `${state.kind} ${state.name} ${state.storing.kind}` : state.kind)
  })
  const open = (name: string, trajectories?: number, bytes = 10) =>
    store.open(
      new File(['content'], name),
      new AbortController().signal,
      trajectories === undefined ? undefined : { trajectories, bytes },
    )
  return { ...store, open, stored, states }
}

const firstOf = ({ id, createdAt }: TrajectoryView) => ({ id, createdAt })

test('An opened file is shown, then stored, and then no longer kept in the page', async () => {
  const file = opened(async ({ name }) => ({
    trajectories: [`key of ${name}`],
    existing: 0,
    first: firstOf(trajectory),
  }))
  expect(await file.open('a')).toEqual({ count: 1, isShown: true })
  await file.store()
  expect(file.states).toEqual(['shown a waiting', 'shown a pending', 'stored'])
  expect(file.state()).toEqual({ kind: 'stored', key: 'key of a' })
  expect([file.openingOf('key of a'), file.openingOf('b')]).toEqual([1, undefined])
  expect(file.stored).toHaveLength(1)
  expect(file.stored[0]?.[1]).toBe(trajectory)
  await file.store()
  expect(file.stored).toHaveLength(1)
})

test('A file with more trajectories than may be shown is counted, and the file before stays shown', async () => {
  const file = opened(async () => ({ trajectories: ['k'], existing: 0, first: firstOf(trajectory) }))
  await file.open('a', 2)
  expect(await file.open('b', 2)).toEqual({ count: 3, isShown: false })
  expect(file.state()).toMatchObject({ kind: 'shown', name: 'a' })
  expect(await file.open('b', 3)).toEqual({ count: 3, isShown: true })
  expect(file.state()).toMatchObject({ kind: 'shown', name: 'b' })
})

test('A file with several records is not shown if it is larger than such a file may be', async () => {
  const file = opened(async () => ({ trajectories: ['k'], existing: 0, first: firstOf(trajectory) }))
  expect(await file.open('b', 3, 6)).toMatchObject({ isShown: false })
  expect(await file.open('b', 3, 7)).toEqual({ count: 3, isShown: true })
  expect(await file.open('a', 3, 6)).toEqual({ count: 1, isShown: true })
})

test('An opened file reports how many of its trajectories are stored, how many were before, and which records failed', async () => {
  const file = opened(async () => ({ trajectories: ['k', 'l', 'm'], existing: 1, first: firstOf(other) }))
  await file.open('b')
  expect(file.storedWith('k')).toBeUndefined()
  await file.store()
  expect(file.storedWith('k')).toMatchObject({ all: 3, existing: 1, failed: FAILED })
  expect([file.keysWith('k'), file.keysWith('m'), file.keysWith('x')]).toEqual([['k', 'l', 'm'], ['k', 'l', 'm'], []])
})

test('An opened file takes the id and the time that the store assigned', async () => {
  const first = { id: 'given', createdAt: '2030-01-01T00:00:00.000Z' }
  const file = opened(async () => ({ trajectories: ['k'], existing: 0, first }))
  await file.open('a')
  await file.store()
  expect(file.stored).toEqual([['k', { ...trajectory, ...first }]])
})

test('An opened file whose records were in the library before is read from there, because its labels may have changed', async () => {
  const first = { id: 'given', createdAt: '2030-01-01T00:00:00.000Z' }
  const file = opened(async () => ({ trajectories: ['k'], existing: 1, first }))
  await file.open('a')
  await file.store()
  expect(file.stored).toEqual([['k', undefined]])
})

test('An opened file that cannot be stored stays, and is stored on a retry', async () => {
  const error = new ApiError(0, 'UNREACHABLE', 'no answer')
  let isAway = true
  const file = opened(async () => {
    if (isAway) throw error
    return { trajectories: ['k'], existing: 0, first: firstOf(trajectory) }
  })
  await file.open('a')
  await file.store()
  expect(file.state()).toMatchObject({ kind: 'shown', trajectory, storing: { kind: 'failed', error } })
  isAway = false
  await Promise.all([file.store(), file.store()])
  expect(file.states.slice(2)).toEqual(['shown a failed', 'shown a pending', 'stored'])
  expect(file.stored).toHaveLength(1)
})

test('A file stays shown and says why if storing it fails in another way than the server says', async () => {
  const lost = new TypeError('Failed to load chunk')
  const file = opened(() => Promise.reject(lost))
  await file.open('a')
  await expect(file.store()).rejects.toBe(lost)
  expect(file.state()).toMatchObject({
    kind: 'shown',
    storing: { kind: 'failed', error: { code: 'STORING_FAILED', message: 'Failed to load chunk' } },
  })
})

test('An opened file without a trajectory keeps the shown one', async () => {
  const file = opened(() => expect.unreachable())
  await file.open('a')
  await expect(file.open('bad')).rejects.toThrow('bad cannot be opened')
  expect(file.state()).toMatchObject({ kind: 'shown', name: 'a' })
})

test.each(['stored', 'refused'] as const)('An opened file stays if the file before it is %s later', async (outcome) => {
  const { promise, resolve, reject } = Promise.withResolvers<Omit<Answer, 'failed'>>()
  const file = opened(() => promise)
  await file.open('a')
  const storing = file.store()
  expect((await file.open('b')).count).toBe(3)
  if (outcome === 'stored') resolve({ trajectories: ['k'], existing: 0, first: firstOf(trajectory) })
  else reject(new ApiError(507, 'FULL', 'no room'))
  await storing
  expect(file.state()).toMatchObject({ kind: 'shown', name: 'b', storing: { kind: 'waiting' } })
  expect(file.stored).toHaveLength(outcome === 'stored' ? 1 : 0)
})

test('A file that only the server can read is stored at once, whatever its number of trajectories', async () => {
  const file = opened(async () => ({
    trajectories: ['k', 'l', 'm'],
    existing: 1,
    first: firstOf(other),
    failed: FAILED,
  }))
  await file.open('a')
  expect(await file.open('sqlite', 2)).toEqual({ count: 3, isShown: true })
  expect(file.state()).toEqual({ kind: 'stored', key: 'k' })
  expect(file.storedWith('k')).toMatchObject({ all: 3, existing: 1, failed: FAILED })
  expect(file.openingOf('k')).toBe(2)
  expect(file.keysWith('k')).toHaveLength(3)
  expect(file.stored).toEqual([['k', undefined]])
})

test('A file that only the server can read, and that it refuses, keeps the shown one', async () => {
  const file = opened(() => Promise.reject(new ApiError(422, 'BAD_FILE', 'expected a whole SQLite database')))
  await file.open('a')
  await expect(file.open('sqlite')).rejects.toThrow('expected a whole SQLite database')
  expect(file.state()).toMatchObject({ kind: 'shown', name: 'a' })
})

test('A file of another host is stored by the server, and its first trajectory is shown', async () => {
  const file = opened(async ({ name }) => ({ trajectories: [name], existing: 0, first: firstOf(other) }))
  const url = 'https://data.example/a.jsonl'
  expect(await file.openUrl(url, new AbortController().signal)).toEqual({ count: 1, isShown: true })
  expect(file.state()).toEqual({ kind: 'stored', key: url })
})

import { afterEach, beforeEach, expect, test } from 'vitest'
import { folderOfTest } from '#testing/files/folders.ts'
import { openTrajectoryStore, type TrajectoryStore } from '../trajectories.ts'

let folder: string
let store: TrajectoryStore
beforeEach(() => {
  folder = folderOfTest()
  store = openTrajectoryStore(folder, { now: () => new Date() })
})
afterEach(() => store.close())

const session = (id: string) => ({ id, createdAt: '2026-01-01T00:00:00.000Z', settings: '{}', reward: null })
const call = (text: string) => ({ facts: `"${text}"`, content: `"content of ${text}"` })

test('The store numbers the calls of each session in their order, and returns those after one', () => {
  expect(store.addSession(session('a'))).toBe(true)
  store.addSession(session('b'))
  expect(['one', 'two'].map((text) => store.addSessionCall('a', call(text)))).toEqual([1, 2])
  expect(store.addSessionCall('b', call('three'))).toBe(1)
  expect(store.sessionCalls('a', 1)).toEqual([{ sequence: 2, ...call('two') }])
  store.addSession(session('c'))
  expect(store.sessions(9)).toEqual([
    { session: session('c'), lastCall: 0 },
    { session: session('b'), lastCall: 1 },
    { session: session('a'), lastCall: 2 },
  ])
  expect(['a', 'b', 'c'].map((id) => store.sessionFacts(id))).toEqual([['"one"', '"two"'], ['"three"'], []])
  expect(['a', 'b', 'd'].map((id) => store.sessionState(id)?.lastCall)).toEqual([2, 1, undefined])
})

test('The store keeps a session that exists, and its reward, when one with the same id is added', () => {
  store.addSession(session('a'))
  store.setSessionReward('a', 0.5)
  expect(store.addSession({ ...session('a'), settings: '{"mode":"observe"}' })).toBe(false)
  expect(store.session('a')).toEqual({ ...session('a'), reward: 0.5 })
  expect(store.sessionState('a')).toEqual({ lastCall: 0, reward: 0.5 })
})

test('The store removes a session with its calls, and stores no further one', () => {
  store.addSession(session('a'))
  store.addSessionCall('a', call('one'))
  expect([store.removeSession('a'), store.removeSession('a')]).toEqual([true, false])
  expect(store.sessionCalls('a', 0)).toEqual([])
  expect(store.addSessionCall('a', call('two'))).toBeUndefined()
})

test('The store finds the sessions with a beginning, the newest first and not more than requested', () => {
  for (const id of ['a', 'b', 'c']) store.addSession(session(id))
  for (const id of ['a', 'b', 'c', 'a']) store.beginSessionCall(id, 'call', 'hello')
  store.beginSessionCall('c', 'call', 'other')
  store.beginSessionCall('c', 'call')
  store.beginSessionCall('removed', 'call', 'hello')
  expect(store.sessionsBeginningWith('hello', 9)).toEqual(['c', 'b', 'a'])
  expect(store.sessionsBeginningWith('hello', 2)).toEqual(['c', 'b'])
  expect(store.sessionsBeginningWith('other', 9)).toEqual(['c'])
  expect(store.sessionsBeginningWith('unknown', 9)).toEqual([])
  store.removeSession('c')
  expect([store.sessionsBeginningWith('hello', 9), store.sessionsBeginningWith('other', 9)]).toEqual([['b', 'a'], []])
})

test('The store lists a call as interrupted if it has begun in an instance that ended, and no other call', () => {
  store.addSession(session('a'))
  const own = store.beginSessionCall('a', 'own') ?? 0
  expect(store.beginSessionCall('b', 'without a session')).toBeUndefined()
  const other = openTrajectoryStore(folder, { now: () => new Date() })
  expect(other.interruptedSessionCalls()).toEqual([])
  // A store that is closed is an instance that has ended; its calls were still being answered.
  store.close()
  expect(other.interruptedSessionCalls()).toEqual([{ session: 'a', begun: own, call: 'own' }])
  other.endSessionCall(own)
  other.beginSessionCall('a', 'of a removed session')
  other.removeSession('a')
  store = openTrajectoryStore(folder, { now: () => new Date() })
  other.close()
  expect(store.interruptedSessionCalls()).toEqual([])
})

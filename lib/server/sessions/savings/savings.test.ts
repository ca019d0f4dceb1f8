/** Tests what sessions saved with a real store, scripted replies and the comparison of the thread. */
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AllSavings, SavedCounts, SessionSavings } from '#lib/api/sessions/savings.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { says } from '#testing/scripted-rollout.ts'
import { looksBack } from '#testing/small-templates.ts'
import { ThreadError } from '../../limited-thread.ts'
import type { Services } from '../../services.ts'
import { shareServices } from '../../shared.ts'
import { send as sendRequest, sessionServices } from '../test-session-server.ts'
import { createSavings, createSavingsThread } from './savings.ts'
import { answerSavings, type SavingsQuestion } from './savings-question.ts'

const { encode } = byteTokenizer
let services: Services
let replies: string[]
let renders: number
const ask = vi.fn<(question: SavingsQuestion) => Promise<SavedCounts>>()

beforeEach(() => {
  replies = []
  renders = 0
  ask.mockReset().mockImplementation(async (question) => answerSavings(question))
  const all = sessionServices(folderOfTest(), {
    template: () => looksBack,
    describe: async () => ({ kind: 'server', modelName: 'bytes', contextLength: 4096, incrementalStreaming: true }),
    generate: () => says(replies.shift() ?? 'ok'),
  })
  services = { ...all, savings: createSavings(() => services, { ask, close: async () => {} }) }
  shareServices(services)
  vi.spyOn(byteTokenizer, 'encode').mockImplementation((text) => {
    renders++
    return encode(text)
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  services.store.close()
})

async function send<T>(method: string, address: string, body?: unknown): Promise<T> {
  const response = await sendRequest(method, address, body)
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status}: ${text}`)
  return JSON.parse(text)
}

const user = (content: string) => ({ role: 'user', content })
const created = async (body: object = {}) => (await send<{ session_id: string }>('POST', '/sessions', body)).session_id
/** Sends a call and returns the history with its reply. */
async function chat(id: string, messages: readonly object[], reply: string): Promise<readonly object[]> {
  replies.push(reply)
  const path = `/sessions/${id}/v1/chat/completions`
  const { choices } = await send<{ choices: { message: object }[] }>('POST', path, { model: 'm', messages })
  return [...messages, choices[0]?.message ?? {}]
}
/** Records two calls, of which a template that drops earlier thinking changes the first. Returns the history. */
const thinking = async (id: string) =>
  chat(id, [...(await chat(id, [user('a')], '<think>so</think>one')), user('b')], 'two')
const savingsOf = (id: string, query = '') => send<SessionSavings>('GET', `/api/sessions/${id}/savings${query}`)
const all = () => send<AllSavings>('GET', '/api/savings')

test('The savings of a session are those of the leaves that are chosen as for an export', async () => {
  const id = await created()
  await thinking(id)
  await chat(id, [user('another')], 'reply')
  const every = await savingsOf(id)
  expect(every.leaves.map(({ node, drifts }) => [node, drifts])).toEqual([
    [1, 1],
    [2, 0],
  ])
  expect(every.total.trainedTokens).toBe(encode('<think>so</think>').length)
  const longest = await savingsOf(id, '?leaves=longest')
  expect(longest.leaves.map(({ node }) => node)).toEqual([1])
  expect(longest.total).toEqual({ ...every.total, rows: 1 })
  await expect(savingsOf(id, '?leaves=best')).rejects.toThrow('\\"leaves\\" must be some of')
})

test('A leaf is compared once, however many requests ask for it, and a longer path renders only its new prompt', async () => {
  const id = await created()
  const history = await thinking(id)
  await Promise.all([savingsOf(id), savingsOf(id, '?leaves=longest')])
  await savingsOf(id)
  expect(ask).toHaveBeenCalledOnce()
  await chat(id, [...history, user('c')], 'three')
  const before = renders
  expect((await savingsOf(id)).leaves.map(({ node }) => node)).toEqual([2])
  expect(renders - before).toBe(1)
  expect(ask).toHaveBeenCalledTimes(2)
})

test('A history that the template refuses limits the comparison to the calls before it, and says so', async () => {
  const id = await created()
  await thinking(id)
  vi.spyOn(byteTokenizer, 'encode').mockImplementation((text) => {
    if (text.includes('two') || text.includes('b<')) throw new TemplateError('too many users')
    return encode(text)
  })
  const { leaves, total } = await savingsOf(id)
  expect(leaves[0]?.caveats).toEqual([
    'The chat template refuses the messages of call 2 (TemplateError: too many users): only the calls before it are compared.',
  ])
  expect(total.drifts).toBe(0)
})

test('A comparison that takes too long is a caveat of its leaf', async () => {
  const id = await created()
  await thinking(id)
  ask.mockRejectedValueOnce(new ThreadError('it took longer than 60 s'))
  expect((await savingsOf(id)).leaves).toMatchObject([
    { drifts: 0, rows: 1, caveats: ['The path is not compared: it took longer than 60 s.'] },
  ])
})

test('All sessions are summed as far as they are known, without waiting, and again when a session has grown', async () => {
  const first = await created()
  const history = await thinking(first)
  await thinking(await created({ session_id: 'second' }))
  await chat(await created({ mode: 'tito', session_id: 'third' }), [user('a')], 'b')
  await created({ session_id: 'without-calls' })
  expect(await all()).toMatchObject({ sessions: [], waiting: 3, failed: 0, total: { drifts: 0, leaves: 0 } })
  await expect.poll(async () => (await all()).waiting).toBe(0)
  const compared = await all()
  expect(compared.total).toMatchObject({ drifts: 2, leaves: 3, rows: 3 })
  expect(compared.sessions.map(({ id, drifts }) => [id, drifts])).toEqual([
    ['third', 0],
    ['second', 1],
    [first, 1],
  ])
  const asked = ask.mock.calls.length
  await all()
  expect(ask).toHaveBeenCalledTimes(asked)
  await chat(first, [...history, user('c')], 'three')
  // Until it is compared again, the earlier numbers of the session count.
  expect(await all()).toMatchObject({ waiting: 1, total: { drifts: 2 } })
  await expect.poll(async () => (await all()).waiting).toBe(0)
  expect(ask).toHaveBeenCalledTimes(asked + 1)
  services.store.removeSession('second')
  expect((await all()).sessions.map(({ id }) => id)).toEqual(['third', first])
})

test('A session that cannot be compared is counted, does not stop the others, and is tried again after a minute', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  await thinking(await created({ session_id: 'well' }))
  await thinking(await created({ session_id: 'broken' }))
  ask.mockRejectedValueOnce(new Error('no server'))
  await all()
  await expect.poll(async () => (await all()).sessions.map(({ id }) => id)).toEqual(['well'])
  expect(await all()).toMatchObject({ waiting: 0, failed: 1 })
  expect(log.mock.calls[0]?.[0]).toBe('the session broken could not be compared with a chat pipeline:')
  const now = performance.now()
  vi.spyOn(performance, 'now').mockReturnValue(now + 61_000)
  expect((await all()).waiting).toBe(1)
  await expect.poll(async () => await all()).toMatchObject({ waiting: 0, failed: 0, total: { leaves: 2 } })
})

test('A session that is deleted while one of its calls runs is neither listed nor a comparison that failed', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  await thinking(await created({ session_id: 'left' }))
  await thinking(await created({ session_id: 'first' }))
  const [call, comparing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const answered = services.sessions.during(services.sessions.find('left'), () => call.promise)
  ask.mockImplementationOnce(async (question) => {
    await comparing.promise
    return answerSavings(question)
  })
  expect(await all()).toMatchObject({ waiting: 2 })
  await expect.poll(() => ask.mock.calls.length).toBe(1)
  const removed = services.sessions.remove('left')
  expect(services.sessions.list().map(({ id }) => id)).toEqual(['first'])
  comparing.resolve()
  await expect.poll(async () => await all()).toMatchObject({ waiting: 0, failed: 0, sessions: [{ id: 'first' }] })
  call.resolve()
  await Promise.all([answered, removed])
  expect(log).not.toHaveBeenCalled()
})

test('The thread compares a path as this thread does', async () => {
  const id = await created()
  await thinking(id)
  await savingsOf(id)
  const question = ask.mock.calls[0]?.[0] ?? expect.fail('nothing was compared')
  const thread = createSavingsThread(path.resolve('lib/server/sessions/savings/savings-worker.ts'))
  const counts = await thread.ask(question, new AbortController().signal)
  await thread.close()
  expect(counts).toEqual(answerSavings(question))
  expect(counts.drifts).toBe(1)
})

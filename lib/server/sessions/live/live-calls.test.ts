import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { EngineClient } from '#lib/engine/engine.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import { createGrowth } from '#lib/trajectory/events/growth.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { says, stop } from '#testing/scripted-rollout.ts'
import { testServices } from '#testing/services.ts'
import { chatml } from '#testing/small-templates.ts'
import type { Services } from '../../services.ts'
import { answerClient } from '../client-call.ts'

let services: Services
/** Each call of the model takes one: it generates the first part, waits for `rest`, and then generates that. */
let scripts: { readonly first: string; readonly rest: Promise<string> }[]
const signal = new AbortController().signal

const chunk = (text: string) => ({
  tokens: { ids: byteTokenizer.encode(text), logprobs: byteTokenizer.encode(text).map(() => -1) },
  problems: [],
})
/** Interval of the stream of each call that the model answered. */
const steps: (number | undefined)[] = []
const generate: EngineClient['generate'] = ({ streamInterval }, left) => {
  steps.push(streamInterval)
  const script = scripts.shift()
  if (!script) return says('ok')
  return (async function* () {
    yield chunk(script.first)
    const stopped = new Promise<never>((_resolve, reject) => left.addEventListener('abort', () => reject(left.reason)))
    const rest = await Promise.race([script.rest, stopped])
    yield* says(rest, stop(script.first.length + rest.length + 1))
  })()
}

beforeEach(() => {
  scripts = []
  steps.length = 0
  services = testServices(folderOfTest(), {
    template: () => chatml,
    describe: async () => ({ kind: 'server', modelName: 'bytes', contextLength: 4096, incrementalStreaming: true }),
    generate,
  })
  services.sessions.create({}, 'ses')
})
afterEach(() => services.store.close())

const send = (body: object): Promise<Response> =>
  answerClient(
    'chat',
    'ses',
    new Request('http://localhost/', { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) }),
    services,
  )
const user = (content: string) => ({ role: 'user', content })
const session = () => services.sessions.find('ses')
const running = () => session().live.rows({ last: session().rows.length, nodes: session().forest.nodes.length })
const liveIds = () => running().flatMap(({ nodes }) => nodes.flatMap(({ live }) => live ?? []))

/** Reads the events of a reply. */
async function events(id: string, until?: 'now'): Promise<readonly RolloutEvent[]> {
  const lines: RolloutEvent[] = []
  for await (const line of session().live.follow(id, signal, until))
    lines.push(JSON.parse(Buffer.from(line).toString()) as RolloutEvent)
  return lines
}
const growthOf = (all: readonly RolloutEvent[]) => {
  const growth = createGrowth()
  for (const event of all) growth.add(event)
  return growth.trajectory ?? expect.fail('no event')
}

test('A call is listed at its place while its reply is generated, and its events give the tokens so far and then the stored ones', async () => {
  const { message } = ((await (await send({ messages: [user('a')] })).json()) as Reply).choices[0]
  expect(running()).toEqual([])
  const rest = Promise.withResolvers<string>()
  scripts = [{ first: 'two ', rest: rest.promise }]
  const answered = send({ messages: [user('a'), message, user('b')] })
  await expect.poll(() => running()[0]?.nodes[0]?.reply).toBe(4)
  const [row] = running()
  expect(row).toMatchObject({
    sequence: 2,
    status: 0,
    error: null,
    attached: { kind: 'continued' },
    messages: 3,
    added: 1,
    nodes: [{ node: 1, parent: 0, status: 'running', trajectory: null, start: pathLength() }],
  })
  const [id = ''] = liveIds()
  const soFar = await events(id, 'now')
  expect(soFar.map(({ type }) => type)).toEqual(['started', 'segment-started'])
  expect(textOf(growthOf(soFar).live?.open?.ids)).toBe('two ')

  const following = events(id)
  rest.resolve('and more')
  await answered
  const all = await following
  expect(all.at(-1)).toEqual({ type: 'ended', outcome: { kind: 'ended', reason: 'end_turn' } })
  const stored = services.store.get(session().rows[1]?.nodes[0]?.trajectory ?? '') ?? expect.fail('it is not stored')
  const followed = growthOf(all)
  expect(followed.segments.flatMap((segment) => Array.from(segment.ids))).toEqual(ids(stored))
  expect(followed.outcome).toEqual(stored.outcome)
  expect(running()).toEqual([])
  expect(() => session().live.follow(id, signal)).toThrow('this reply is not being generated')
})

test('A call that is being answered has a duration, also after the clock was set back by an hour', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const rest = Promise.withResolvers<string>()
  scripts = [{ first: 'a', rest: rest.promise }]
  const answered = send({ messages: [user('a')] })
  await expect.poll(() => running().length).toBe(1)
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(running()[0]?.elapsedMs).toBeGreaterThan(0)
  rest.resolve('b')
  await answered
})

test('Each of several replies to a call is followed alone, and a call whose client leaves ends its streams', async () => {
  const never = new Promise<string>(() => {})
  scripts = [
    { first: 'x', rest: never },
    { first: 'yy', rest: never },
  ]
  const left = new AbortController()
  const answered = answerClient(
    'chat',
    'ses',
    new Request('http://localhost/', {
      method: 'POST',
      body: JSON.stringify({ model: 'm', n: 2, messages: [user('a')] }),
      signal: left.signal,
    }),
    services,
  )
  await expect
    .poll(() => running()[0]?.nodes.map(({ choice, reply }) => [choice, reply]))
    .toEqual([
      [0, 1],
      [1, 2],
    ])
  const following = Promise.all(liveIds().map((id) => events(id)))
  // The readers get the present state before the call ends.
  await new Promise((resolve) => setImmediate(resolve))
  left.abort()
  await answered
  const texts = (await following).map((all) => textOf(growthOf(all).segments.at(-1)?.ids))
  expect(texts).toEqual(['x', 'yy'])
  expect(running()).toEqual([])
})

test('A call that fails before its first token is not listed as running any more', async () => {
  scripts = [{ first: '', rest: Promise.reject(new EngineError('CONNECT_REFUSED', 'nothing listens')) }]
  scripts[0]?.rest.catch(() => {})
  await send({ messages: [user('a')] })
  expect(running()).toEqual([])
})

test('A whole reply arrives in a few large chunks, unless its client or a page reads it while it is generated', async () => {
  await send({ messages: [user('a')] })
  await (await send({ messages: [user('b')], stream: true })).text()
  running()
  await send({ messages: [user('c')] })
  expect(steps).toEqual([256, 16, 16])
})

interface Reply {
  readonly choices: readonly [{ readonly message: object }]
}
const textOf = (tokens: ArrayLike<number> = []) =>
  Buffer.concat(Array.from(tokens, (id) => byteTokenizer.bytes(id))).toString()
function pathLength(): number {
  const [node] = session().rows[0]?.nodes ?? []
  return (node?.start ?? 0) + (node?.prompt ?? 0) + (node?.reply ?? 0)
}

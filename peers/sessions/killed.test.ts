/**
 * Kills the application with SIGKILL while it answers the second call of a client, and starts it again. The client repeats the call by itself,
 * at the same address, and the session continues with everything that was answered before.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { AUTO_SESSION } from '#lib/api/sessions/session.ts'
import { builtInTokenizer, type ScriptedSglang, startScriptedSglang } from '../../bench/support/load/scripted-sglang.ts'
import { freePort } from '../../e2e/support/free-port.ts'
import { application, tokenColumns } from '../set-up/application.ts'
import { peersFolder } from '../set-up/install.ts'
import { APPLICATION_TOKEN, type Running, startApplication } from '../set-up/processes.ts'
import { SCRIPTED_TASK, sessionClients } from './clients.ts'
import { onlyTrajectory } from './engine-calls.ts'

const python = inject('sessionClients')
const CALL = `<think>\nI add.\n</think>\n\n<tool_call>\n${JSON.stringify({ name: 'add', arguments: { a: 17, b: 25 } })}\n</tool_call>`
const ANSWER = 'The sum is 42.'
/** The replies to each client: a call, an answer that is not finished, and the answer. */
const REPLIES = [
  { text: CALL, msPerChunk: 0 },
  { text: ANSWER, msPerChunk: 1000 },
  { text: ANSWER, msPerChunk: 0 },
] as const
/** Enough for a client to wait until the application is there again: the last waits take 8 s each. */
const RETRIES = 12

const folder = path.join(peersFolder(), 'session-tests')
const data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-killed-'))
let model: ScriptedSglang
let running: Running
let start: () => Promise<Running>

beforeAll(async () => {
  const { encode, endOfTurn } = await builtInTokenizer()
  model = await startScriptedSglang((_, __, call) => {
    const { text, msPerChunk } = REPLIES[call % REPLIES.length] ?? REPLIES[0]
    const ids = [...encode(text), endOfTurn]
    return { ids, finish: { type: 'stop', matched: endOfTurn }, tokensPerChunk: 1, msPerChunk }
  })
  mkdirSync(folder, { recursive: true })
  const places = { folder, tokenizers: folder, python, port: await freePort(), data, server: model.baseUrl }
  start = () => startApplication(places)
  running = await start()
})
afterAll(async () => {
  await running.stop()
  await model.close()
  rmSync(data, { recursive: true, force: true })
})

const RETRYING = ['openai chat (Python)', 'anthropic (Python)', 'openai (JavaScript)', 'anthropic (JavaScript)']

const retrying = sessionClients(python).filter(({ name }) => RETRYING.includes(name))

test.each([
  ...retrying.map((client) => ({ client, name: client.name, isAuto: false })),
  ...retrying.slice(0, 1).map((client) => ({ client, name: `${client.name} at /sessions/auto`, isAuto: true })),
])(
  '$name continues after kill -9 during its second call, and nothing that was answered is lost',
  async ({ client, isAuto }) => {
    const rollscope = application(running.baseUrl)
    const address = isAuto ? AUTO_SESSION : (await (await rollscope.post('/sessions', {})).json()).session_id
    const before = exchanges().length
    const isGenerating = new Promise<void>((resolve) => {
      model.onChunk = () => exchanges().length === before + 2 && resolve()
    })
    const task = { ...SCRIPTED_TASK, retries: RETRIES }
    const ended = client.run({
      origin: `${rollscope.baseUrl}/sessions/${address}`,
      key: APPLICATION_TOKEN,
      stream: false,
      task,
    })
    await Promise.race([isGenerating, ended])
    await running.kill()
    running = await start()
    expect(await ended).toMatchObject({ text: ANSWER, results: ['42'] })

    const [first, cut, last] = exchanges().slice(before)
    if (!first || !cut || !last) return expect.fail('the model was called three times')
    expect(last.read).toEqual(cut.read)
    const answered = [...first.read, ...first.wrote]
    expect(last.read.slice(0, answered.length)).toEqual(answered)
    const id = isAuto ? (await (await rollscope.get('/api/sessions')).json()).sessions[0].id : address
    const { calls } = await (await rollscope.get(`/api/sessions/${id}`)).json()
    expect(calls.map(({ status, attached }: SessionCall) => [status, attached.kind])).toEqual([
      [200, 'new-root'],
      [503, 'continued'],
      [200, 'retried'],
    ])
    const { ids, mask } = tokenColumns(await onlyTrajectory(rollscope, id))
    expect(ids).toEqual([...last.read, ...last.wrote])
    expect(mask.slice(0, answered.length)).toEqual([...first.read.map(() => 0), ...first.wrote.map(() => 1)])
  },
)

interface SessionCall {
  readonly status: number
  readonly attached: { readonly kind: string }
}

/** Returns the calls of the model so far: the clients send no seed. */
const exchanges = () => model.exchanges.get(0) ?? []

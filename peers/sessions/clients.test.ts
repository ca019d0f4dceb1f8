/**
 * Runs real clients against a scripted server that answers with lib/session/protocols. Their requests are the golden file of that folder:
 * RECORD=1 writes it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { SCRIPTED_TASK, sessionClients } from './clients.ts'
import type { ArrivedRequest, ScriptedProtocolServer } from './scripted-server.ts'
import { startScriptedProtocolServer } from './scripted-server.ts'

const GOLDEN = path.resolve(import.meta.dirname, '..', '..', 'lib', 'session', 'protocols', 'golden', 'requests.json')

/** A request of a client. */
type ClientRequest = { readonly client: string; readonly stream: boolean } & ArrivedRequest

let server: ScriptedProtocolServer
beforeAll(async () => {
  server = await startScriptedProtocolServer()
})
afterAll(() => server.stop())

const isRecorded = process.env.RECORD === '1'
const golden: readonly ClientRequest[] = isRecorded ? [] : JSON.parse(readFileSync(GOLDEN, 'utf8'))
const recorded: ClientRequest[] = []

const clients = sessionClients(inject('sessionClients')).flatMap((client) =>
  client.streams.map((stream) => ({ ...client, stream, mode: stream ? 'streamed' : 'whole' })),
)

test.each(clients)('$name runs its tool and gets its answer, $mode, with the recorded requests', async (client) => {
  const { text, results, tokens } = await client.run({
    origin: server.origin,
    key: 'key',
    stream: client.stream,
    task: SCRIPTED_TASK,
  })
  const isCommands = client.name.startsWith('mini-swe-agent')
  expect(text).toBe(isCommands ? 'Submitted' : 'The sum is 42.')
  expect(results).toEqual([isCommands ? expect.stringContaining('<output>\n42\n</output>') : '42'])
  if (tokens !== null) expect(tokens).toBeGreaterThanOrEqual(42)
  const requests = server
    .takeRequests()
    .map((request): ClientRequest => ({ client: client.name, stream: client.stream, ...request }))
  expect(requests).toHaveLength(2)
  recorded.push(...requests)
  if (!isRecorded)
    expect(requests).toEqual(golden.filter((one) => one.client === client.name && one.stream === client.stream))
})

afterAll(() => {
  if (!isRecorded) return
  mkdirSync(path.dirname(GOLDEN), { recursive: true })
  writeFileSync(GOLDEN, `${JSON.stringify(recorded, null, 1)}\n`)
})

/** Runs the real clients through sessions on the built-in model: what a session records is what the built-in server reported. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { application } from '../set-up/application.ts'
import { peersFolder } from '../set-up/install.ts'
import { APPLICATION_TOKEN, type Running, startApplication } from '../set-up/processes.ts'
import { type EngineUnderTest, engineClients, expectEngineColumns } from './engine-calls.ts'
import { startRecordingProxy } from './recording-proxy.ts'

const python = inject('sessionClients')
let running: Running
let engine: EngineUnderTest

beforeAll(async () => {
  const folder = path.join(peersFolder(), 'session-tests')
  mkdirSync(folder, { recursive: true })
  running = await startApplication({ folder, tokenizers: folder, python })
  const rollscope = application(running.baseUrl)
  const proxy = await startRecordingProxy(`${running.baseUrl}/sglang`, APPLICATION_TOKEN)
  engine = { rollscope, server: 'built-in-recorded', proxy }
  await rollscope.addServer(engine.server, proxy.baseUrl)
})
afterAll(async () => {
  await engine.proxy.stop()
  await running.stop()
})

test.each(engineClients(python))(
  '$name, $mode, has a session on the built-in model with the ids, the mask and the logprobs that it reported',
  async (client) => {
    expect((await expectEngineColumns(client, engine)).tokens).toBeGreaterThan(20)
  },
)

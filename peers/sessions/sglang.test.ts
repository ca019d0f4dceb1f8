/** Runs the real clients through sessions on SGLang: what a session records is what SGLang reported, streamed in both forms. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { application } from '../set-up/application.ts'
import { type EngineUnderTest, engineClients, expectEngineColumns } from './engine-calls.ts'
import { startRecordingProxy } from './recording-proxy.ts'

const { clients, model, ...places } = inject('sessionEngines')
const rollscope = application(places.application)
let engine: EngineUnderTest

beforeAll(async () => {
  const proxy = await startRecordingProxy(places.sglang)
  engine = { rollscope, server: 'sglang-recorded', proxy, tokenizer: model }
  await rollscope.addServer(engine.server, proxy.baseUrl)
})
afterAll(() => engine.proxy.stop())

test.each(engineClients(clients))(
  '$name, $mode, has a session on SGLang with the ids, the mask and the logprobs that it reported',
  async (client) => {
    expect((await expectEngineColumns(client, engine)).tokens).toBeGreaterThan(20)
  },
)

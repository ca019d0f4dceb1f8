/**
 * Runs real clients, of which only the address and the key change, through sessions with a scripted model: the second call of each continues the
 * first without a change of a token, and the session has the ids of both replies.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { answerWith } from '#lib/server/http/node-answer.ts'
import { createRouter } from '#lib/server/http/router.ts'
import { sessionRoutes } from '#lib/server/routes/sessions.ts'
import type { Services } from '#lib/server/services.ts'
import { shareServices } from '#lib/server/shared.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { says } from '#testing/scripted-rollout.ts'
import { testServices } from '#testing/services.ts'
import { chatml } from '#testing/small-templates.ts'
import { SCRIPTED_TASK, sessionClients } from './clients.ts'

const TOKEN = 'token-of-the-sessions-01'
const call = (name: string, input: object): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: input })}\n</tool_call>`
const THOUGHT = '<think>\nI add.\n</think>\n\nLet me add.\n'

/** The two replies to each client. */
const SCRIPT = [`${THOUGHT}${call('add', { a: 17, b: 25 })}`, 'The sum is 42.']
/** mini-swe-agent has a tool of its own, and ends with a call. */
const COMMANDS = [
  `${THOUGHT}${call('bash', { command: 'expr 17 + 25' })}`,
  call('bash', { command: 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT' }),
]

const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-clients-'))
const requests: GenerateRequest[] = []
let script: readonly string[] = SCRIPT
let server: Server
let origin: string
let services: Services

beforeAll(async () => {
  services = {
    ...testServices(folder, {
      template: () => chatml,
      describe: async () => ({ kind: 'server', modelName: 'bytes', contextLength: 8192, incrementalStreaming: true }),
      generate: (request) => {
        requests.push(request)
        return says(script[requests.length - 1] ?? 'The script has ended.')
      },
    }),
    config: { hosts: [], token: TOKEN },
  } as unknown as Services
  shareServices(services)
  const router = createRouter(sessionRoutes)
  server = createServer((request, response) => {
    answerWith(router, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  services.store.close()
  rmSync(folder, { recursive: true, force: true })
})

const clients = sessionClients(inject('sessionClients')).flatMap((client) =>
  client.streams.map((stream) => ({ ...client, stream, mode: stream ? 'streamed' : 'whole' })),
)

const json = async (method: string, address: string, body?: object): Promise<unknown> => {
  const response = await fetch(origin + address, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  expect(response.ok, await response.clone().text()).toBe(true)
  return response.json()
}

interface SessionCalls {
  readonly calls: readonly {
    readonly status: number
    readonly error: string | null
    readonly attached: { readonly kind: string } | null
  }[]
}

test.each(clients)('$name continues its session, $mode, and the session has the ids of its replies', async (client) => {
  const isCommands = client.name.startsWith('mini-swe-agent')
  script = isCommands ? COMMANDS : SCRIPT
  requests.length = 0
  const { session_id: id } = (await json('POST', '/sessions', {})) as { readonly session_id: string }
  const { text, results } = await client.run({
    origin: `${origin}/sessions/${id}`,
    key: TOKEN,
    stream: client.stream,
    task: SCRIPTED_TASK,
  })
  expect(text).toBe(isCommands ? 'Submitted' : 'The sum is 42.')
  expect(results).toEqual([isCommands ? expect.stringContaining('<output>\n42\n</output>') : '42'])
  const { calls } = (await json('GET', `/api/sessions/${id}`)) as SessionCalls
  expect(calls.map(({ status, error, attached }) => [status, error, attached?.kind])).toEqual([
    [200, null, 'new-root'],
    [200, null, 'continued'],
  ])
  const [first, second] = requests.map(({ inputIds }) => inputIds)
  const sampled = byteTokenizer.encode(`${script[0]}<|im_end|>`)
  expect(second?.slice(0, (first?.length ?? 0) + sampled.length)).toEqual([...(first ?? []), ...sampled])
})

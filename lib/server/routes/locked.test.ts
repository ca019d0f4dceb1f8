/** Requests that change the store while another program has locked the database. */
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { says } from '#testing/scripted-rollout.ts'
import { testServices } from '#testing/services.ts'
import { chatml } from '#testing/small-templates.ts'
import type { Services } from '../services.ts'
import { shareServices } from '../shared.ts'
import { answerRequest } from './routes.ts'

const TOKEN = 'token-of-the-locked-01'
let folder: string
let all: Services
beforeEach(() => {
  folder = folderOfTest()
  const services = testServices(folder, {
    template: () => chatml,
    describe: async () => ({ kind: 'server', modelName: 'bytes', contextLength: 4096 }),
    generate: () => says('ok'),
  })
  all = { ...services, config: { hosts: [], token: TOKEN } } as unknown as Services
  shareServices(all)
})
afterEach(async () => {
  await all.runs.cancelAll()
  all.store.close()
})

const send = (method: string, address: string, body: unknown): Promise<Response> =>
  answerRequest(
    new Request(`http://localhost${address}`, {
      method,
      headers: {
        host: 'localhost',
        authorization: `Bearer ${TOKEN}`,
        'x-rollscope': '1',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    }),
  )

const imported: Trajectory = {
  ...sample,
  id: 'imported',
  segments: sample.segments.map((segment) => {
    return segment.kind === 'response' ? { ...segment, logprobs: segment.ids.map(() => 0) } : segment
  }),
  provenance: { kind: 'import', format: 'slime', lacked: [] },
}

const call = { model: 'm', messages: [{ role: 'user', content: 'q' }] }

test.each<[string, string, object]>([
  ['PATCH', '/api/trajectories/sample', { title: 'x' }],
  ['POST', '/api/trajectories/sample/notes', { start: 0, end: 1, text: 'x' }],
  ['POST', '/api/trajectories/deleted/restore', {}],
  ['POST', '/api/trajectories/imported/repairs', { name: 'zero-logprobs-trained' }],
  ['POST', '/api/values/estimate/cancel', {}],
  ['POST', '/api/groups', { prompt: 'q', samples: 2 }],
  ['POST', '/api/rollouts', { prompt: 'q', detached: true }],
  ['POST', '/sessions', { session_id: 'ses' }],
  ['POST', '/sessions/auto/v1/chat/completions', call],
  ['POST', '/sessions/auto/v1/messages', { ...call, max_tokens: 9, metadata: { session_id: 'named' } }],
])('%s %s waits for a lock of another program while other requests are answered', async (method, address, body) => {
  for (const trajectory of [sample, imported, { ...sample, id: 'deleted' }]) all.store.add(trajectory)
  all.store.remove('deleted')
  const plan = {
    range: { tokens: [1] },
    n: 2,
    reward: { kind: 'pattern', pattern: 'x' },
    positions: [1],
    tokens: 1,
    settings: {},
  }
  const createdAt = new Date().toISOString()
  all.store.addEstimate({ id: 'estimate', key: 'sample', createdAt, plan: JSON.stringify(plan) })
  const holder = new DatabaseSync(path.join(folder, 'rollscope.db'))
  holder.exec('BEGIN IMMEDIATE')
  const changing = send(method, address, body)
  // A write that waits in the thread of all requests keeps this one from ending the lock.
  await new Promise((resolve) => setTimeout(resolve, 100))
  holder.exec('ROLLBACK')
  holder.close()
  const response = await changing
  expect([200, 201], await response.clone().text()).toContain(response.status)
})

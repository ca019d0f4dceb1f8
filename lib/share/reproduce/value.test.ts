/** Runs the commands of value estimates with a shell and with Python. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { ValueBody } from '#lib/api/forest/value.ts'
import { received } from './test-application.ts'
import { valueCurl, valuePython } from './value.ts'

const body: ValueBody = {
  range: { surprising: 10 },
  n: 8,
  reward: { kind: 'exact', expected: 'it’s $HOME `x`\nJSON' },
  sampling: { temperature: 1 },
}
const estimate = {
  id: 'e',
  state: 'done',
  reading: 'cliff',
  cliff: { from: 2 },
  points: [
    { at: 2, value: { mean: 1, low: 0.5, high: 1 } },
    { at: 3, value: null },
  ],
}

/** Runs a program against a server whose estimate has ended at the first look, and returns what it received and printed. */
async function receivedEstimate(command: string, args: readonly string[]) {
  const { requests, stdout } = await received(command, args, (method) =>
    method === 'POST' ? { ...estimate, state: 'running' } : estimate,
  )
  return { requests: requests.map(({ method, url, key, text }) => ({ call: `${method} ${url}`, key, text })), stdout }
}

const call = 'POST /api/trajectories/k~2%2F%C3%A9/value'

test('The curl command of a value estimate sends the request unchanged, with the key from the environment', async () => {
  const { requests } = await receivedEstimate('bash', ['-c', valueCurl('k~2/é', body)])
  expect(requests).toEqual([{ call, key: 'Bearer k', text: expect.any(String) }])
  expect(JSON.parse(requests[0]?.text ?? '')).toEqual(body)
})

test.runIf(spawnSync('python3', ['--version']).status === 0)(
  'The Python script of a value estimate sends the request, waits for its end and prints the curve',
  async () => {
    const { requests, stdout } = await receivedEstimate('python3', ['-c', valuePython('k~2/é', body)])
    expect(requests.map((request) => request.call)).toEqual([call, 'GET /api/values/e'])
    expect(JSON.parse(requests[0]?.text ?? '')).toEqual(body)
    expect(stdout).toBe('2 1.00 [0.50, 1.00]\n3 None\ndone cliff {"from": 2}\n')
  },
)

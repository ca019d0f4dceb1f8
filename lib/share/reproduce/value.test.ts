/** Runs the commands of value estimates with a shell and with Python. */
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { ValueBody } from '#lib/api/forest/value.ts'
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

/** Runs a program against a server that answers as Rollscope does, and returns what it received and printed. */
async function received(command: string, args: readonly string[]) {
  const requests: { readonly call: string; readonly key: string | undefined; readonly text: string }[] = []
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const { method, url, headers } = request
    requests.push({ call: `${method} ${url}`, key: headers.authorization, text })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(method === 'POST' ? { ...estimate, state: 'running' } : estimate))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { stdout } = await promisify(execFile)(command, [...args], {
      env: {
        ...process.env,
        no_proxy: '*',
        ROLLSCOPE_TOKEN: 'k',
        ROLLSCOPE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      },
    })
    return { requests, stdout }
  } finally {
    server.close()
  }
}

const call = 'POST /api/trajectories/k~2%2F%C3%A9/value'

test('The curl command of a value estimate sends the request unchanged, with the key from the environment', async () => {
  const { requests } = await received('bash', ['-c', valueCurl('k~2/é', body)])
  expect(requests).toEqual([{ call, key: 'Bearer k', text: expect.any(String) }])
  expect(JSON.parse(requests[0]?.text ?? '')).toEqual(body)
})

test.runIf(spawnSync('python3', ['--version']).status === 0)(
  'The Python script of a value estimate sends the request, waits for its end and prints the curve',
  async () => {
    const { requests, stdout } = await received('python3', ['-c', valuePython('k~2/é', body)])
    expect(requests.map((request) => request.call)).toEqual([call, 'GET /api/values/e'])
    expect(JSON.parse(requests[0]?.text ?? '')).toEqual(body)
    expect(stdout).toBe('2 1.00 [0.50, 1.00]\n3 None\ndone cliff {"from": 2}\n')
  },
)

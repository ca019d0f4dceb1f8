import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openInstance } from '#lib/store/files/instance.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { closeServer, listeningUrl } from '#testing/listening.ts'
import { listenProblem, portProblem } from './port-problem.ts'

let dataFolder: string
let server: Server
let answer: string
beforeEach(async () => {
  dataFolder = folderOfTest()
  answer = '{"status":"ok","version":"0.1.0"}'
  server = createServer((request, response) => response.end(request.url === '/api/health' ? answer : ''))
  await listeningUrl(server)
})
afterEach(async () => {
  await closeServer(server)
})

const config = () => ({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, dataFolder })

test('A start on the port of a running Rollscope of the same data folder names its address with the token', async () => {
  const instance = openInstance(dataFolder)
  const address = `http://127.0.0.1:${config().port}`
  instance.announce({ address, token: 'its-token' })
  const problem = await portProblem(config())
  instance.close()
  expect(problem).toContain(`Rollscope is already running with this data folder. Open ${address}/?token=its-token`)
  expect(problem).toContain('PORT=')
})

test('A start on the port of a Rollscope with another data folder says so', async () => {
  expect(await portProblem(config())).toMatch(
    /^Port \d+ is in use by another Rollscope: .*http:\/\/127\.0\.0\.1:\d+.*PORT=…$/,
  )
})

test.each(['{"status":"ok"}', '[]', 'null', 'no JSON'])(
  'A start on the port of a program that answers %s says only that the port is in use',
  async (other) => {
    answer = other
    expect(await portProblem(config())).toMatch(/^Port \d+ is in use: stop what listens there/)
  },
)

test('A start on a free port has no problem, and another error of listening is given with its reason', async () => {
  expect(await portProblem({ ...config(), port: 0 })).toBeUndefined()
  const refused = Object.assign(new Error('permission denied'), { code: 'EACCES' })
  expect(await listenProblem(refused, { host: '127.0.0.1', port: 80, dataFolder })).toBe(
    'Cannot listen on 127.0.0.1:80: permission denied',
  )
})

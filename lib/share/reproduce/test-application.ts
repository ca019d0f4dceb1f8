/** This file runs the written programs against a server that answers as Rollscope does. For tests. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

/** A request that a program sent. */
export interface ReceivedRequest {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly key: string | undefined
  readonly marker: string | string[] | undefined
  readonly text: string
}

/** Runs a program and returns what the server received and the program printed. `answer` returns the JSON for a method. */
export async function received(
  command: string,
  args: readonly string[],
  answer: (method: string | undefined) => unknown,
): Promise<{ readonly requests: readonly ReceivedRequest[]; readonly stdout: string }> {
  const requests: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const { method, url, headers } = request
    requests.push({ method, url, key: headers.authorization, marker: headers['x-rollscope'], text })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer(method)))
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

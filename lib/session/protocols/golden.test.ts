/** Tests the requests that real clients send (peers/sessions/clients.test.ts records them). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { protocols } from './protocol.ts'

interface ClientRequest {
  readonly client: string
  readonly stream: boolean
  readonly path: string
  readonly body: unknown
}

const requests: readonly ClientRequest[] = JSON.parse(
  readFileSync('lib/session/protocols/golden/requests.json', 'utf8'),
)

const read = ({ path, body }: ClientRequest) => {
  const protocol = Object.values(protocols).find((one) => one.path === path) ?? expect.fail(`no protocol has ${path}`)
  return protocol.read(body, JSON.stringify(body))
}

const turns = requests
  .filter((_, index) => index % 2 === 0)
  .map((first, index) => [first, requests[2 * index + 1]] as const)

test('The recorded requests are of ten clients over three protocols, whole and streamed', () => {
  expect(new Set(requests.map(({ client }) => client)).size).toBe(10)
  expect(new Set(requests.map(({ path }) => path)).size).toBe(3)
  expect(requests.filter(({ stream }) => stream).length).toBeGreaterThan(10)
})

describe.each(turns)('The requests of $client', (first, second) => {
  test('are read without refusal, and the second continues the first with the reply and the result', () => {
    const call = read(first)
    const next = read(second ?? expect.fail('the client has no second request'))
    expect(call.stream).toBe(first.stream)
    expect(call.tools).toHaveLength(1)
    expect(next.messages.slice(0, call.messages.length)).toEqual(call.messages)
    const [reply, result, ...rest] = next.messages.slice(call.messages.length)
    expect(rest).toEqual([])
    const isCommands = first.client.startsWith('mini-swe-agent')
    expect(reply).toMatchObject({
      role: 'assistant',
      content: 'Let me add.',
      toolCalls: [
        isCommands
          ? { id: 'call_1', name: 'bash', input: { command: 'expr 17 + 25' } }
          : { id: 'call_1', name: 'add', input: { a: 17, b: 25 } },
      ],
    })
    expect(result).toMatchObject({ role: 'tool', callId: 'call_1', content: expect.stringContaining('42') })
  })
})

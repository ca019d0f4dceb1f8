/**
 * A server that speaks the three protocols with the code of lib/session/protocols, and records the bodies that it gets. It calls the first tool
 * of a request once, and then answers with a text.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '#lib/json/json-object.ts'
import type { ReplyPart, SessionCall, SessionReply } from '#lib/session/call.ts'
import { type Protocol, protocols } from '#lib/session/protocols/protocol.ts'
import { CallRefusal, errorBody, failureOf } from '#lib/session/protocols/refusal.ts'
import { replyDeltas } from '#lib/session/protocols/reply-parts.ts'

/** A request that arrived. */
export interface ArrivedRequest {
  readonly path: string
  readonly body: JsonObject
}

/** A running server. */
export interface ScriptedProtocolServer {
  /** Address without a path. */
  readonly origin: string
  /** Returns the requests since the last call. */
  takeRequests(): readonly ArrivedRequest[]
  stop(): Promise<void>
}

/** Starts the server on a free port of this machine. */
export async function startScriptedProtocolServer(): Promise<ScriptedProtocolServer> {
  let requests: ArrivedRequest[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeRequests() {
      const taken = requests
      requests = []
      return taken
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const found = Object.entries(protocols).find(([, { path }]) => path === request.url?.split('?')[0])
    if (!found) {
      response.writeHead(404).end()
      return
    }
    const [, protocol] = found
    const text = (await request.setEncoding('utf8').toArray()).join('')
    const body = JSON.parse(text) as JsonObject
    requests.push({ path: protocol.path, body })
    try {
      send(protocol, protocol.read(body, text), response, requests.length)
    } catch (error) {
      if (!(error instanceof CallRefusal)) throw error
      const name = protocol === protocols.messages ? 'messages' : 'chat'
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify(errorBody(name, failureOf(error))))
    }
  }
}

function send(protocol: Protocol, call: SessionCall, response: ServerResponse, turn: number): void {
  const reply = replyTo(call, turn)
  const bytes = () => Uint8Array.of(120)
  if (!call.stream) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(protocol.whole(reply, call, bytes)))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const stream = protocol.stream(reply, call, bytes)
  response.write(stream.begin() + stream.keepAlive())
  for (const delta of replyDeltas(reply))
    if ('text' in delta)
      // Pieces of one character show what a client does with every border.
      for (const text of delta.text) response.write(stream.write({ ...delta, text }))
    else response.write(stream.write(delta))
  response.end()
}

/** Arguments of the call of each tool. */
const ARGUMENTS: Readonly<Record<string, JsonObject>> = {
  add: { a: 17, b: 25 },
  bash: { command: 'expr 17 + 25' },
}
const SUBMIT = { command: 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT' }

/** Returns the reply of the script: a call of the first tool, or a text after its result. mini-swe-agent ends with a call. */
function replyTo({ messages, tools }: SessionCall, turn: number): SessionReply {
  const [tool] = tools
  const isAnswered = messages.at(-1)?.role === 'tool'
  const call = (input: JsonObject | undefined): ReplyPart => ({
    kind: 'call',
    id: `call_${turn}`,
    name: tool?.name ?? '',
    arguments: JSON.stringify(input ?? {}),
  })
  const parts: readonly ReplyPart[] = !isAnswered
    ? [{ kind: 'reasoning', text: 'I add.' }, { kind: 'text', text: 'Let me add.' }, call(ARGUMENTS[tool?.name ?? ''])]
    : tool?.name === 'bash'
      ? [call(SUBMIT)]
      : [{ kind: 'text', text: 'The sum is 42.' }]
  return {
    id: `reply${turn}`,
    createdAt: 1_790_000_000_000,
    model: 'tiny',
    promptTokens: 30,
    cachedTokens: 10,
    choices: [{ parts, finish: { kind: 'stop' }, tokens: { ids: [] } }],
    usage: { promptTokens: 30, cachedTokens: 10, completionTokens: 12, reasoningTokens: 4 },
  }
}

/** The client of an SGLang server. */
import type { ServerDescription } from '#lib/api/server-status.ts'
import { type ClientOptions, createConnection, type ServerConnection } from '#lib/engine/connection.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { createIdentityWatch } from '#lib/engine/server-identity.ts'
import { chat, chatAnswerIn } from '../reply/chat.ts'
import { streamReply } from '../reply/generate.ts'
import { describeServer, loadOfServer, modelOf } from '../server/server-facts.ts'
import { serverParsers } from '../server/server-parsers.ts'
import { serverTokenizer } from '../server/server-tokenizer.ts'

/** Creates a client with a connection of its own, which is opened with its first call. */
export const createClient = (options: ClientOptions): EngineClient => sglangClient(createConnection(options))

/** Creates a client that uses a connection. */
export function sglangClient(connection: ServerConnection): EngineClient {
  const { info, ask, transport } = connection
  const identity = createIdentityWatch(
    (signal) => modelOf(info, signal),
    () => transport.connections,
  )
  const server = { ...connection, identity }
  let lastKnown: ServerDescription | undefined
  return {
    generate: (request, signal) => streamReply(server, request, signal),
    chat: (request, signal) => chat(server, request, signal),
    readChat: (value, vocabularySize) => chatAnswerIn(value, vocabularySize, connection.apiKey),
    async describe(signal) {
      const before = transport.connections
      lastKnown = await describeServer(info, signal, lastKnown)
      identity.saw(lastKnown, before)
      return lastKnown
    },
    load: (signal) => loadOfServer(info, signal),
    ...serverTokenizer(ask),
    ...serverParsers(ask),
    forward: connection.forward,
    close: () => connection.close(),
  }
}

/** The client of a llama.cpp server. */
import { type Capability, ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { ServerConnection } from '#lib/engine/connection.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { refuseCapability } from '#lib/engine/refusal.ts'
import { createIdentityWatch } from '#lib/engine/server-identity.ts'
import { complete } from './completion.ts'
import { describeServer, loadOfServer } from './facts.ts'
import { serverTokenizer } from './tokenizer.ts'

/** Creates a client that uses a connection. */
export function llamacppClient(connection: ServerConnection): EngineClient {
  const { info, ask, transport } = connection
  const identity = createIdentityWatch(
    (signal) => describeServer(info, signal),
    () => transport.connections,
  )
  const server = { ...connection, identity }
  return {
    generate: (request, signal) => complete(server, request, signal),
    chat: async () => refuse('chatIds'),
    readChat: () => refuse('chatIds'),
    async describe(signal) {
      const before = transport.connections
      const description = await describeServer(info, signal)
      identity.saw(description, before)
      return description
    },
    load: (signal) => loadOfServer(info, signal),
    ...serverTokenizer(ask),
    parseFunctionCalls: async () => refuse('parsers'),
    separateReasoning: async () => refuse('parsers'),
    forward: connection.forward,
    close: () => connection.close(),
  }
}

const refuse = (capability: Capability): never => refuseCapability(capability, ENGINE_CAPABILITIES['llama.cpp'])

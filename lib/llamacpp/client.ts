/** The client of a llama.cpp server. */
import { type Capability, ENGINE_CAPABILITIES, whyUnsupported } from '#lib/api/engine/unsupported.ts'
import type { Connection } from '#lib/engine/connection.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { isReady } from '#lib/engine/readiness.ts'
import { createIdentityWatch } from '#lib/engine/server-identity.ts'
import { refusalText } from '#lib/sampling/refusal.ts'
import { complete } from './completion.ts'
import { describeServer, loadOfServer } from './facts.ts'
import { serverTokenizer } from './tokenizer.ts'

/** Creates a client that uses a connection. */
export function llamacppClient(connection: Connection): EngineClient {
  const { info, ask, transport } = connection
  const identity = createIdentityWatch(
    (signal) => describeServer(info, signal),
    () => transport.connections,
  )
  const server = { ...connection, identity }
  return {
    generate: (request, signal) => complete(server, request, signal),
    chat: async () => refuse('chatIds'),
    async describe(signal) {
      const before = transport.connections
      const description = await describeServer(info, signal)
      identity.saw(description, before)
      return description
    },
    load: (signal) => loadOfServer(info, signal),
    isReady: (signal) => isReady(connection, ['/health'], signal),
    ...serverTokenizer(ask),
    parseFunctionCalls: async () => refuse('parsers'),
    separateReasoning: async () => refuse('parsers'),
    close: () => connection.close(),
  }
}

function refuse(capability: Capability): never {
  const refusal = whyUnsupported(capability, ENGINE_CAPABILITIES['llama.cpp'])
  throw new EngineError('REQUEST_REFUSED', refusal ? refusalText(refusal) : capability)
}

/** The client of a vLLM server, and of any other server whose /v1/completions takes and returns token ids. */
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { ServerConnection } from '#lib/engine/connection.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { refuseCapability } from '#lib/engine/refusal.ts'
import { createIdentityWatch } from '#lib/engine/server-identity.ts'
import { singleFlight } from '#lib/util/single-flight.ts'
import { chat, chatAnswerIn } from './chat.ts'
import { complete } from './completion.ts'
import { createDescriber, loadOfServer, modelOf } from './facts.ts'
import { chatEndpoint, generateEndpoint } from './image-prompts.ts'
import { serverTokenizer } from './tokenizer.ts'

/** Creates a client that uses a connection. */
export function vllmClient(connection: ServerConnection): EngineClient {
  const { info, ask, transport } = connection
  const identity = createIdentityWatch(
    async (signal) => modelOf(info, signal),
    () => transport.connections,
  )
  const server = { ...connection, identity }
  const describeServer = createDescriber(connection)
  let lastKnown: ServerDescription | undefined
  const describe: EngineClient['describe'] = async (signal) => {
    const before = transport.connections
    lastKnown = await describeServer(signal)
    identity.saw(lastKnown, before)
    return lastKnown
  }
  const flight = singleFlight<ServerDescription>()
  /** Requests need the name of the model and the form of the engine. */
  const known = async (signal: AbortSignal) => {
    const { modelName = '', capabilities } = lastKnown ?? (await flight(describe, signal))
    return {
      model: modelName,
      engine: capabilities?.engine === 'openai' ? ('openai' as const) : ('vllm' as const),
      imageEndpoint: capabilities?.images
        ? capabilities.imagesInMessages
          ? chatEndpoint
          : generateEndpoint
        : undefined,
      mostAlternatives: capabilities?.mostAlternatives,
    }
  }
  return {
    async *generate(request, signal) {
      yield* complete(server, request, await known(signal), signal)
    },
    chat: async (request, signal) => chat(server, request, await known(signal), signal),
    readChat: (value, vocabularySize) => chatAnswerIn(value, vocabularySize, connection.apiKey),
    describe,
    load: (signal) => loadOfServer(connection, signal),
    ...serverTokenizer(ask, async (signal) => (await known(signal)).model),
    parseFunctionCalls: async (_, signal) => refuseParsing((await known(signal)).engine),
    separateReasoning: async (_, signal) => refuseParsing((await known(signal)).engine),
    forward: connection.forward,
    close: () => connection.close(),
  }
}

const refuseParsing = (engine: 'vllm' | 'openai'): never => refuseCapability('parsers', ENGINE_CAPABILITIES[engine])

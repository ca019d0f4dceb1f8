/**
 * The client of a server whose engine is found by asking it: SGLang by /model_info, llama.cpp by /props, vLLM and other
 * OpenAI-compatible servers by /v1/models. The engine is found
 * again when another one answers at the same address.
 */
import { type ClientOptions, createConnection } from '#lib/engine/connection.ts'
import type { EngineClient, ServerClient } from '#lib/engine/engine.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { isReady } from '#lib/engine/readiness.ts'
import type { Chunk } from '#lib/engine/reply.ts'
import { llamacppClient } from '#lib/llamacpp/client.ts'
import { sglangClient } from '#lib/sglang/client/client.ts'
import { singleFlight } from '#lib/util/single-flight.ts'
import { vllmClient } from '#lib/vllm/client.ts'

/** Creates a client. It connects with its first call, and finds the engine with the first call that depends on it. */
export function createEngineClient(options: ClientOptions): ServerClient {
  const connection = createConnection(options)
  const sglang = sglangClient(connection)
  const clients: readonly EngineClient[] = [sglang, llamacppClient(connection), vllmClient(connection)]
  /** The client of the engine that has described itself. */
  let known: EngineClient | undefined
  const describe: EngineClient['describe'] = async (signal) => {
    let failure: unknown
    for (const client of known ? [known, ...clients.filter((other) => other !== known)] : clients) {
      try {
        const description = await client.describe(signal)
        known = client
        return description
      } catch (error) {
        if (error instanceof EngineError && error.code === 'NO_TOKEN_IDS') throw error
        failure ??= error
        if (!mayBeOtherEngine(error)) throw error
      }
    }
    throw failure
  }
  const find = singleFlight<void>()
  /** Returns the client of the engine. A server that reports nothing counts as SGLang. */
  const found = async (signal: AbortSignal): Promise<EngineClient> => {
    if (!known)
      await find(async (stop) => {
        try {
          await describe(stop)
        } catch (error) {
          if (!(error instanceof EngineError)) throw error
        }
      }, signal)
    return known ?? sglang
  }
  async function* generateWhenFound(...[request, signal]: Parameters<EngineClient['generate']>): AsyncGenerator<Chunk> {
    yield* (await found(signal)).generate(request, signal)
  }
  return {
    // Once the engine is known, no generator around the client's own adds to the time of every chunk.
    generate: (request, signal) => (known ? known.generate(request, signal) : generateWhenFound(request, signal)),
    chat: async (request, signal) => (await found(signal)).chat(request, signal),
    readChat: (value, vocabularySize) => (known ?? sglang).readChat(value, vocabularySize),
    describe,
    load: async (signal) => (await found(signal)).load(signal),
    isReady: (signal) => isReady(connection, signal),
    tokenize: async (texts, signal) => (await found(signal)).tokenize(texts, signal),
    frame: async (signal) => (await found(signal)).frame(signal),
    tokenizeMessages: async (input, signal) => (await found(signal)).tokenizeMessages(input, signal),
    detokenize: async (lists, special, signal) => (await found(signal)).detokenize(lists, special, signal),
    parseFunctionCalls: async (request, signal) => (await found(signal)).parseFunctionCalls(request, signal),
    separateReasoning: async (request, signal) => (await found(signal)).separateReasoning(request, signal),
    forward: connection.forward,
    close: () => connection.close(),
  }
}

/** Returns whether a failed description may be of another engine: the path is unknown, or its reply has another form. */
const mayBeOtherEngine = (error: unknown): boolean =>
  error instanceof EngineError &&
  (error.status === 404 || error.code === 'UNKNOWN_SERVER' || error.code === 'BAD_SHAPE')

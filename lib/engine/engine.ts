/** The interface between the application and an inference server, whatever its engine is. */
import type { ReportedLoad } from '#lib/api/server-load.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { Problem } from '#lib/trajectory/format/trajectory.ts'
import type { ChatCall } from '#lib/trajectory/messages/chat-call.ts'
import type { ForwardCall } from './connection.ts'
import type { Chunk, End } from './reply.ts'
import type { GenerateRequest } from './request.ts'
import type { ServerIdentity } from './server-identity.ts'
import type { ServerTokenizer } from './tokenizer/server-tokenizer.ts'

/** The client of a server whose engine is known. */
export interface EngineClient extends ServerTokenizer, ServerParsers {
  /**
   * Yields the reply to one request chunk by chunk; a plain reply is one chunk. Until the first chunk a transient
   * failure is retried; after it every failure is thrown. A reader that stops closes the connection and with it the
   * generation. Throws EngineError, or the reason of the signal.
   */
  generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<Chunk>
  /**
   * Returns the whole reply to messages that the server renders and tokenizes itself. Retries like `generate`. Throws
   * EngineError, with the code CHAT_UNSUPPORTED if the server does not return its ids, or the reason of the signal.
   */
  chat(request: ChatRequest, signal: AbortSignal): Promise<ChatAnswer>
  /**
   * Returns the answer in the JSON of a whole reply that another program requested from the chat endpoint. Throws
   * EngineError, with the code CHAT_UNSUPPORTED if it has no ids.
   */
  readChat(value: unknown, vocabularySize: number): ChatAnswer
  /**
   * Describes the server and its model. Like all status calls it is sent once, even while the breaker blocks
   * generations.
   */
  describe(signal: AbortSignal): Promise<ServerDescription>
  /** Returns the load of the server, or undefined if the server does not report it. */
  load(signal: AbortSignal): Promise<ReportedLoad | undefined>
  readonly forward: ForwardCall
  close(): Promise<void>
}

/** The client of one server, for every engine. */
export interface ServerClient extends EngineClient {
  /** Returns whether the server is ready. Throws EngineError, with the code UNKNOWN_SERVER if nothing says so. */
  isReady(signal: AbortSignal): Promise<boolean>
}

/** The parsers of a server. */
export interface ServerParsers {
  /**
   * Finds tool calls. `tools` are `{type: "function", function: {…}}`. Throws UPSTREAM_REJECTED with status 404 if the server
   * lacks the path.
   */
  parseFunctionCalls(
    request: { readonly text: string; readonly tools: readonly unknown[]; readonly parser: string },
    signal: AbortSignal,
  ): Promise<FunctionCalls>
  /** Splits a text into reasoning and the rest. Throws like `parseFunctionCalls`. */
  separateReasoning(
    request: { readonly text: string; readonly parser: string },
    signal: AbortSignal,
  ): Promise<{ readonly reasoning: string; readonly text: string }>
}

interface FunctionCalls {
  readonly normalText: string
  /** `arguments` is JSON text as the server writes it. */
  readonly calls: readonly { readonly name: string | undefined; readonly arguments: string }[]
}

/** The message that a server parsed from a reply. */
interface ChatMessage {
  readonly [field: string]: unknown
  readonly content?: string | null | undefined
  readonly reasoning_content?: string | null | undefined
  readonly tool_calls?:
    | readonly {
        readonly id?: string | null | undefined
        readonly function: { readonly name?: string | null | undefined; readonly arguments?: string | null | undefined }
      }[]
    | null
    | undefined
}

/** A request to /v1/chat/completions. */
export interface ChatRequest extends ChatCall {
  /** The request id, which has a fixed length. */
  readonly rid: string
  /** The size of the vocabulary. Larger ids belong to another tokenizer. */
  readonly vocabularySize: number
  /** The identity of the server when the run began. Undefined: any server may answer. */
  readonly expected?: ServerIdentity
}

/** The answer to a chat request. */
export interface ChatAnswer {
  /** The id of the request that was answered, if it differs from the requested id. */
  readonly rid?: string
  /** The ids that the server has read: its template applied to the messages, tokenized. */
  readonly promptIds: readonly number[]
  readonly tokens: Chunk['tokens']
  /** The message that the server parsed from the tokens. */
  readonly message: ChatMessage
  readonly end: Omit<End, 'text' | 'routedExperts'>
  readonly problems: readonly Problem[]
}

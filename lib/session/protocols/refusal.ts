/** Refusals and failures of calls, in the words and the shapes of each protocol. */
import type { JsonObject } from '#lib/json/json-object.ts'
import type { ProtocolName } from '../call.ts'

/** A request that a session does not take. The client gets status 400. */
export class CallRefusal extends Error {
  override readonly name = 'CallRefusal'
  /** Path of the field, for example `tools[0].type`; '' for the whole body. */
  readonly field: string
  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** Why a call has no answer. */
export interface CallFailure {
  /** HTTP status of the answer; in a stream, the status that it would have had. */
  readonly status: number
  /** What happened, where, and what to do. */
  readonly message: string
  /** Path of the field that caused it. Omitted: none did. */
  readonly field?: string
  /** Set if the conversation does not fit into the context of the model, which clients handle by shortening it. */
  readonly context?: ContextExcess
  /** Milliseconds after which the client may repeat the call. Omitted: unknown. */
  readonly retryAfterMs?: number
}

/** Token counts of a call that does not fit into the context, as far as they are known. */
interface ContextExcess {
  /** Tokens that the call needs: its prompt and room for a reply. */
  readonly needed?: number
  /** Tokens that fit into the context. */
  readonly holds?: number
}

/** Returns the failure of a refused request. */
export const failureOf = ({ field, message }: CallRefusal): CallFailure => ({
  status: 400,
  message,
  ...(field !== '' && { field }),
})

/** Returns the body of an answer with an error status. */
export const errorBody = (protocol: ProtocolName, failure: CallFailure): JsonObject =>
  protocol === 'messages'
    ? anthropicError(failure)
    : { error: openAiError(failure, protocol === 'chat' ? 'messages' : 'input') }

/** Returns the error object of an OpenAI protocol. `history` is the name of the field with the conversation. */
export const openAiError = (failure: CallFailure, history: 'messages' | 'input'): JsonObject => ({
  message: openAiMessage(failure),
  type: kindOf(OPENAI_TYPES, failure.status, 'server_error'),
  param: failure.context ? history : (failure.field ?? null),
  code: openAiCode(failure),
})

/** Returns the code by which clients of OpenAI's protocols recognize a failure; null if it has none. */
export function openAiCode({ status, context }: CallFailure): string | null {
  if (context) return 'context_length_exceeded'
  return status === 401 ? 'invalid_api_key' : null
}

/** Returns the message of a failure. Clients that drop its code recognize the first sentence. */
export const openAiMessage = ({ message, context: { holds } = {} }: CallFailure): string =>
  holds === undefined ? message : `This model's maximum context length is ${holds} tokens. ${message}`

/** Returns the error object of Anthropic messages, also the data of an error event. */
export const anthropicError = ({ status, message, context }: CallFailure): JsonObject => ({
  type: 'error',
  error: {
    type: kindOf(ANTHROPIC_TYPES, status, 'api_error'),
    message: context ? anthropicContextText(context, message) : message,
  },
  request_id: null,
})

/** Anthropic's protocol has no codes: clients recognize this text, and some read its counts. */
const anthropicContextText = ({ needed, holds }: ContextExcess, message: string): string =>
  needed === undefined || holds === undefined
    ? `prompt is too long: ${message}`
    : `prompt is too long: ${needed} tokens > ${holds} maximum`

type Types = Readonly<Record<number, string>>

/** A status without an entry has the type of its class. */
const kindOf = (types: Types, status: number, ofServer: string): string =>
  types[status] ?? (status < 500 ? 'invalid_request_error' : ofServer)

const OPENAI_TYPES: Types = {
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
}

const ANTHROPIC_TYPES: Types = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  503: 'overloaded_error',
}

/** The protocols of clients behind one interface: a request in, a whole or streamed reply or an error out. */
import type { JsonObject } from '#lib/json/json-object.ts'
import type { ProtocolName, ReplyDelta, ReplyHead, SessionCall, SessionReply } from '../call.ts'
import { chatStream, wholeChatReply } from './chat-reply.ts'
import { readChatCall } from './chat-request.ts'
import { messagesStream, wholeMessagesReply } from './messages-reply.ts'
import { readMessagesCall } from './messages-request.ts'
import type { CallFailure } from './refusal.ts'
import { responsesStream, wholeResponsesReply } from './responses-reply.ts'
import { readResponsesCall } from './responses-request.ts'

/** Returns the bytes of a token, for the logprobs of a reply. */
export type BytesOfToken = (id: number) => Uint8Array

/** Writes the server-sent events of one answer. Each result is a text of whole events, '' if there is nothing to send yet. */
export interface ReplyStream {
  /** Returns the events before the first delta. */
  begin(): string
  /** Returns the events of a delta. The delta with the usage is the last one, and ends the stream. */
  write(delta: ReplyDelta): string
  /** Returns the events that end the stream with an error. */
  fail(failure: CallFailure): string
  /** Returns an event that keeps an idle connection open and means nothing. */
  keepAlive(): string
}

/** A protocol of clients. */
export interface Protocol {
  /** Path under the address of a session. */
  readonly path: string
  /** Reads the parsed JSON body of a request, of which `text` is the JSON text. Throws CallRefusal. */
  read(body: unknown, text: string): SessionCall
  /** Returns the body of the answer with status 200. */
  whole(reply: SessionReply, call: SessionCall, bytes: BytesOfToken): JsonObject
  /** Returns the writer of a streamed answer. */
  stream(head: ReplyHead, call: SessionCall, bytes: BytesOfToken): ReplyStream
}

/** All protocols by name. */
export const protocols: Readonly<Record<ProtocolName, Protocol>> = {
  chat: {
    path: '/v1/chat/completions',
    read: readChatCall,
    whole: wholeChatReply,
    stream: chatStream,
  },
  messages: {
    path: '/v1/messages',
    read: readMessagesCall,
    whole: wholeMessagesReply,
    stream: messagesStream,
  },
  responses: {
    path: '/v1/responses',
    read: readResponsesCall,
    whole: wholeResponsesReply,
    stream: responsesStream,
  },
}

/** Writes replies as Anthropic messages: the whole body, or events that add up to it. */
import type { JsonObject } from '#lib/json/json-object.ts'
import { writtenObject } from '#lib/json/written-json.ts'
import type { Finish } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { ReplyHead, ReplyPart, ReplyUsage, SessionCall, SessionReply } from '../call.ts'
import type { ReplyStream } from './protocol.ts'
import { anthropicError } from './refusal.ts'

/** Returns the body of an answer. */
export function wholeMessagesReply(reply: SessionReply, call: SessionCall): JsonObject {
  const { parts, finish } = elementAt(reply.choices, 0)
  return {
    ...emptyMessage(reply),
    content: parts.map((part) => blockOf(part, reply.id)),
    ...stopOf(
      finish,
      parts.some(({ kind }) => kind === 'call'),
      call,
    ),
    usage: { ...UNUSED, ...countsOf(reply.usage) },
  }
}

function blockOf(part: ReplyPart, id: string): JsonObject {
  switch (part.kind) {
    case 'reasoning':
      return { type: 'thinking', thinking: part.text, signature: signatureOf(id) }
    case 'text':
      return { type: 'text', text: part.text, citations: null }
    case 'call':
      // A call that was cut after its beginning has no input: the protocol has only objects.
      return { ...emptyCall(part.id, part.name), input: writtenObject(part.arguments) ?? {} }
  }
}

/** Some clients drop thinking without a signature, so that it has the id of the reply. */
const signatureOf = (id: string): string => `rollscope-${id}`

const emptyCall = (id: string, name: string): JsonObject => ({
  type: 'tool_use',
  id,
  name,
  input: {},
  caller: { type: 'direct' },
})

/** Returns the writer of a streamed answer. */
export function messagesStream(head: ReplyHead, call: SessionCall): ReplyStream {
  const event = (type: string, body: JsonObject): string => sentEvent(type, { type, ...body })
  let index = -1
  let open: 'reasoning' | 'text' | 'call' | undefined
  let hasCalls = false
  let finish: Finish | undefined

  const close = (): string => {
    if (open === undefined) return ''
    const signature =
      open === 'reasoning'
        ? event('content_block_delta', { index, delta: { type: 'signature_delta', signature: signatureOf(head.id) } })
        : ''
    open = undefined
    return signature + event('content_block_stop', { index })
  }
  const start = (kind: 'reasoning' | 'text' | 'call', block: JsonObject): string => {
    const closed = close()
    open = kind
    index++
    return closed + event('content_block_start', { index, content_block: block })
  }
  const text = (kind: 'reasoning' | 'text', block: JsonObject, delta: JsonObject): string =>
    (open === kind ? '' : start(kind, block)) + event('content_block_delta', { index, delta })

  return {
    begin: () =>
      event('message_start', {
        message: {
          ...emptyMessage(head),
          stop_reason: null,
          stop_sequence: null,
          usage: { ...UNUSED, ...inputCounts(head), output_tokens: 0 },
        },
      }),
    write(delta) {
      switch (delta.kind) {
        case 'tokens':
          return ''
        case 'reasoning':
          return text(
            'reasoning',
            { type: 'thinking', thinking: '', signature: '' },
            { type: 'thinking_delta', thinking: delta.text },
          )
        case 'text':
          return text('text', { type: 'text', text: '', citations: null }, { type: 'text_delta', text: delta.text })
        case 'call':
          hasCalls = true
          return start('call', emptyCall(delta.id, delta.name))
        case 'arguments':
          return event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: delta.text } })
        case 'finish':
          finish = delta.finish
          return close()
        case 'usage':
          return (
            close() +
            event('message_delta', {
              delta: { container: null, stop_details: null, ...stopOf(finish, hasCalls, call) },
              usage: { ...countsOf(delta.usage), cache_creation_input_tokens: 0, server_tool_use: null },
            }) +
            event('message_stop', {})
          )
      }
    },
    fail: (failure) => sentEvent('error', anthropicError(failure)),
    keepAlive: () => event('ping', {}),
  }
}

const sentEvent = (type: string, body: JsonObject): string => `event: ${type}\ndata: ${JSON.stringify(body)}\n\n`

const emptyMessage = ({ id, model }: ReplyHead): JsonObject => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  container: null,
  stop_details: null,
})

/** Fields of the usage that count nothing here. */
const UNUSED: JsonObject = {
  cache_creation: null,
  cache_creation_input_tokens: 0,
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
}

/** Anthropic counts the tokens of the prompt that no cache had. */
const inputCounts = ({
  promptTokens,
  cachedTokens,
}: Pick<ReplyUsage, 'promptTokens' | 'cachedTokens'>): JsonObject => ({
  input_tokens: promptTokens - cachedTokens,
  cache_read_input_tokens: cachedTokens,
})

const countsOf = (usage: ReplyUsage): JsonObject => ({
  ...inputCounts(usage),
  output_tokens: usage.completionTokens,
  output_tokens_details: { thinking_tokens: usage.reasoningTokens },
})

/** Anthropic has no reason for an aborted message, so that it is null. */
function stopOf(finish: Finish | undefined, hasCalls: boolean, { sampling }: SessionCall): JsonObject {
  const matched = finish?.kind === 'stop' ? finish.matched : undefined
  if (typeof matched === 'string' && sampling.stop?.includes(matched))
    return { stop_reason: 'stop_sequence', stop_sequence: matched }
  const reason =
    finish?.kind === 'stop' ? (hasCalls ? 'tool_use' : 'end_turn') : finish?.kind === 'length' ? 'max_tokens' : null
  return { stop_reason: reason, stop_sequence: null }
}

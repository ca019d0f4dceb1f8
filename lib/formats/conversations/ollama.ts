/**
 * Replies of Ollama's own endpoints, /api/chat and /api/generate, with their requests. Both are streams unless the request says otherwise:
 * a reply is a line, or several up to the one that is done.
 */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import type { Finish } from '#lib/trajectory/format/trajectory.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals, joinedPath } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from '../replies/call-chains.ts'
import { mergedFields, withoutNullFields } from '../replies/chat-chunks.ts'
import { NO_PAIR, pairIn } from '../replies/chat-completion.ts'
import { usageField } from '../replies/chat-reply.ts'
import { type ModelCall, requestFacts } from '../replies/model-call.ts'
import { replyColumns } from '../replies/reply-columns.ts'
import { joinedLists, joinedTexts } from '../replies/streams.ts'
import { entriesOf } from '../replies/token-entries.ts'
import { recordsOf } from './text-trajectory.ts'

const NAME = 'ollama'

/** The format of replies, whole and streamed. */
export const ollama: Format = {
  name: NAME,
  label: 'Ollama',
  keeps: 'Messages, thinking, calls, tools and counts; logprobs are kept unread, because they have no ids.',
  joins: true,
  sniff: (value) => isReply(value) || pairIn(value, isReply) !== undefined,
  read: catchRefusals((value, source) => trajectoriesOfCalls(repliesIn(value).map(callOf), { format: NAME }, source)),
}

function isReply(value: unknown): value is JsonObject {
  if (!isObject(value) || typeof value.model !== 'string' || typeof value.done !== 'boolean') return false
  return isObject(value.message) || typeof value.response === 'string'
}

interface Reply {
  readonly chunks: readonly JsonObject[]
  readonly request: JsonObject | undefined
  readonly path: string
}

/** Returns the chunks of each reply. */
function repliesIn(value: unknown): readonly Reply[] {
  const replies: { readonly chunks: JsonObject[]; readonly request: JsonObject | undefined; readonly path: string }[] =
    []
  let open: JsonObject[] | undefined
  for (const { record, path } of recordsOf(value)) {
    const { reply, ...pair } = isReply(record)
      ? { ...NO_PAIR, reply: record }
      : { ...NO_PAIR, ...pairIn(record, isReply) }
    if (!reply) continue
    if (open && !pair.request) open.push(reply)
    else {
      open = [reply]
      replies.push({ chunks: open, request: pair.request, path: `${path}${pair.path}` })
    }
    if (reply.done === true) open = undefined
  }
  return replies
}

function callOf({ chunks, request, path }: Reply): ModelCall {
  const fields = mergedFields(chunks)
  const messages = objectsIn(chunks.map(({ message }) => message))
  const logprobs = joinedLists(chunks, 'logprobs')
  const at = joinedPath(path, 'logprobs')
  const paths = { ids: at, entries: at }
  const {
    vocab,
    lacked,
    isWhole: _,
    ...tokens
  } = replyColumns({ ids: undefined, entries: entriesOf(logprobs, at), paths })
  const calls = messages.flatMap((message) => objectsIn(message.tool_calls))
  const finish = finishOf(fields)
  return {
    ...requestFacts(request && { ...request, messages: messagesOf(request) }),
    prompt: undefined,
    response: {
      kind: 'response',
      ...tokens,
      thinks: [],
      toolCalls: [],
      message: {
        role: 'assistant',
        content: joinedTexts(messages, 'content') ?? joinedTexts(chunks, 'response') ?? '',
        ...withoutNullFields({
          reasoning_content: joinedTexts(messages, 'thinking') ?? joinedTexts(chunks, 'thinking'),
        }),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
      ...(finish && { finish }),
      ...usageField({ prompt_tokens: fields.prompt_eval_count, completion_tokens: fields.eval_count }),
    },
    vocab,
    model: String(fields.model),
    engine: undefined,
    createdAt: isoText(fields.created_at),
    lacked: [...lacked, ...(request ? [] : ['messages of the prompt'])],
    rest: without(withoutNullFields({ ...fields, logprobs }), READ),
  }
}

const READ = [
  'model',
  'created_at',
  'message',
  'response',
  'thinking',
  'done',
  'done_reason',
  'prompt_eval_count',
  'eval_count',
]

/** The request of /api/generate has a text. */
const messagesOf = ({ messages, prompt }: JsonObject): unknown =>
  messages ?? (typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : [])

function finishOf({ done, done_reason: reason }: JsonObject): Finish | undefined {
  if (done !== true) return undefined
  if (reason === 'length') return { kind: 'length' }
  return reason === 'stop' || reason === undefined ? { kind: 'stop' } : { kind: 'unknown', raw: String(reason) }
}

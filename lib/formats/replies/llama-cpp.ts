/** Replies of llama.cpp's /completion, whole and streamed. */
import { isObject, type JsonObject, storable, without } from '#lib/json/json-object.ts'
import type { Finish } from '#lib/trajectory/format/trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from './call-chains.ts'
import { usageField } from './chat-reply.ts'
import { type ModelCall, requestFacts } from './model-call.ts'
import { replyColumns } from './reply-columns.ts'
import { sameIds } from './reply-ids.ts'
import { joinedLists, joinedTexts, streamFormat } from './streams.ts'
import { entriesOf } from './token-entries.ts'

const NAME = 'llama-cpp-completion'

/** The format of whole replies. */
export const llamaCppCompletion: Format = {
  name: NAME,
  label: 'llama.cpp /completion',
  keeps: 'Ids, logprobs, alternatives, text, settings and finish reason of the reply.',
  sniff: (value) => isPart(value) && value.stop === true && isObject(value.generation_settings),
  read: catchRefusals((value, source) => trajectoriesOfCalls([callOf(value as JsonObject)], { format: NAME }, source)),
}

/** The format of streamed replies. */
export const llamaCppCompletionStream: Format = streamFormat(llamaCppCompletion, isPart, joinedReply, streamsIn)

function isPart(value: unknown): value is JsonObject {
  return isObject(value) && 'tokens_predicted' in value && typeof value.content === 'string'
}

function callOf(reply: JsonObject): ModelCall {
  const settings = isObject(reply.generation_settings) ? reply.generation_settings : undefined
  const probabilities = reply.completion_probabilities
  // With post_sampling_probs the entries have `prob`, which is a probability after top-k and similar filters.
  const isFiltered = settings?.post_sampling_probs === true
  const listed = Array.isArray(reply.tokens) && reply.tokens.length > 0 ? reply.tokens : undefined
  const { vocab, lacked, isWhole, problems, ...tokens } = replyColumns({
    ids: sameIds([['tokens', listed]]),
    entries: isFiltered ? undefined : entriesOf(probabilities, 'completion_probabilities'),
    paths: { ids: 'tokens', entries: 'completion_probabilities' },
  })
  const finish = finishOf(reply)
  return {
    ...requestFacts(settings),
    sampling: undefined,
    prompt: undefined,
    response: {
      kind: 'response',
      ...tokens,
      thinks: [],
      toolCalls: [],
      ...(problems && { problems }),
      message: { content: reply.content },
      ...(finish && { finish }),
      ...usageField({ prompt_tokens: reply.tokens_evaluated, completion_tokens: reply.tokens_predicted }),
    },
    vocab,
    model: typeof reply.model === 'string' ? reply.model : undefined,
    engine: 'llama.cpp',
    createdAt: undefined,
    lacked: [
      ...lacked,
      'ids of the prompt',
      ...(isFiltered ? ['logprobs: the server returned probabilities after its filters, which are kept unread'] : []),
    ],
    rest: storable({
      ...without(reply, [
        ...['content', 'tokens', 'model', 'tokens_predicted', 'tokens_evaluated', 'stop', 'stop_type', 'index'],
        ...(isWhole && !isFiltered ? ['completion_probabilities'] : []),
      ]),
    }),
  }
}

function finishOf({ stop_type: type, stopping_word: word }: JsonObject): Finish | undefined {
  if (type === 'eos') return { kind: 'stop' }
  if (type === 'word') return { kind: 'stop', ...(typeof word === 'string' && { matched: word }) }
  return type === 'limit' ? { kind: 'length' } : undefined
}

/** A chunk has no id: a stream ends with the chunk that says so, and samples of one request differ by their index. */
function streamsIn(chunks: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const streams: JsonObject[][] = []
  const open = new Map<unknown, JsonObject[]>()
  for (const chunk of chunks) {
    const stream = open.get(chunk.index)
    if (stream) stream.push(chunk)
    else {
      const begun = [chunk]
      open.set(chunk.index, begun)
      streams.push(begun)
    }
    if (chunk.stop === true) open.delete(chunk.index)
  }
  return streams
}

function joinedReply(chunks: readonly JsonObject[]): JsonObject {
  return {
    ...chunks.at(-1),
    content: joinedTexts(chunks, 'content'),
    tokens: joinedLists(chunks, 'tokens'),
    completion_probabilities: joinedLists(chunks, 'completion_probabilities'),
  }
}

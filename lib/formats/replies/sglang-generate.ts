/** Replies of SGLang's /generate: one, a list of samples, and the data of a stream, whose chunks repeat everything or only add. */
import { isObject, type JsonObject, storable, without } from '#lib/json/json-object.ts'
import type { Finish } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from './call-chains.ts'
import { usageField } from './chat-reply.ts'
import { type ModelCall, requestFacts } from './model-call.ts'
import { replyColumns } from './reply-columns.ts'
import { sameIds } from './reply-ids.ts'
import { isList, joinedTexts, lastOf, streamFormat } from './streams.ts'
import { tupleEntries } from './token-entries.ts'

const NAME = 'sglang-generate'

/** The format of whole replies, with the request beside it if the file has it. */
export const sglangGenerate: Format = {
  name: NAME,
  label: 'SGLang /generate',
  keeps: 'Ids, logprobs and alternatives of prompt and reply, finish reason, counts, weight versions.',
  sniff: (value) => {
    const { reply } = pairIn(value)
    return reply !== undefined && isObject(reply.meta_info) && isFinished(reply.meta_info)
  },
  read: catchRefusals((value, source) => {
    const { reply = NO_REPLY, request, path } = pairIn(value)
    return trajectoriesOfCalls([callOf(reply, request, path)], { format: NAME }, source)
  }),
}

/** The format of streamed replies. */
export const sglangGenerateStream: Format = streamFormat(sglangGenerate, isReply, joinedReply)

interface Reply extends JsonObject {
  readonly meta_info: JsonObject
}

function isReply(value: unknown): value is Reply {
  return isObject(value) && isObject(value.meta_info) && ('text' in value || 'output_ids' in value)
}

/** `read` gets only what `sniff` accepts, which has a reply. */
const NO_REPLY: Reply = { meta_info: {} }

const isFinished = ({ finish_reason }: JsonObject): boolean => finish_reason !== null && finish_reason !== undefined

function pairIn(value: unknown): { reply?: Reply; request: JsonObject | undefined; path: string } {
  if (isReply(value)) return { reply: value, request: undefined, path: '' }
  if (!isObject(value) || !isReply(value.response)) return { request: undefined, path: '' }
  return { reply: value.response, request: isObject(value.request) ? value.request : undefined, path: 'response.' }
}

function callOf(reply: Reply, request: JsonObject | undefined, path: string): ModelCall {
  const { meta_info: meta } = reply
  const at = `${path}meta_info`
  const written = tupleEntries(meta.output_token_logprobs, meta.output_top_logprobs, `${at}.output_token_logprobs`)
  const read = tupleEntries(meta.input_token_logprobs, meta.input_top_logprobs, `${at}.input_token_logprobs`)
  const columns = replyColumns({
    ids: sameIds([[`${path}output_ids`, reply.output_ids]]),
    entries: written,
    paths: { ids: `${path}output_ids`, entries: `${at}.output_token_logprobs` },
  })
  const listed = sameIds([
    [`${path}prompt_token_ids`, reply.prompt_token_ids],
    ['request.input_ids', request?.input_ids],
  ])
  // With logprob_start_len the logprobs begin inside the prompt: these ids are not the whole prompt.
  const isWholePrompt = listed ? read?.length === listed.length : read?.length === meta.prompt_tokens
  const prompt =
    listed || (read && isWholePrompt)
      ? replyColumns({
          ids: listed,
          entries: isWholePrompt ? read : undefined,
          paths: { ids: `${path}prompt_token_ids`, entries: `${at}.input_token_logprobs` },
        })
      : undefined
  const { vocab, lacked, isWhole, problems, ...tokens } = columns
  const finish = finishOf(meta.finish_reason)
  const weights = weightVersions(meta, columns.ids.length)
  return {
    ...requestFacts(request),
    prompt: prompt && {
      ids: prompt.ids,
      ...(prompt.logprobs && { logprobs: prompt.logprobs }),
      ...(prompt.topLogprobs && { topLogprobs: prompt.topLogprobs }),
      derivation: { kind: 'given', ...(listed && request?.input_ids !== undefined && { what: 'ids' }) },
    },
    response: {
      kind: 'response',
      ...tokens,
      thinks: [],
      toolCalls: [],
      ...(problems && { problems }),
      ...(typeof reply.text === 'string' && { message: { content: reply.text } }),
      ...(finish && { finish }),
      ...usageField({ ...meta, prompt_tokens_details: { cached_tokens: meta.cached_tokens } }),
      ...(weights && { weightVersions: weights }),
    },
    vocab: { ...prompt?.vocab, ...vocab },
    model: undefined,
    engine: 'sglang',
    createdAt: undefined,
    lacked: [
      ...lacked,
      ...(prompt ? [] : ['ids of the prompt']),
      ...(read && !isWholePrompt
        ? [`logprobs of the whole prompt: the file has those of ${read.length} tokens, kept unread`]
        : []),
    ],
    rest: restOf(reply, meta, isWhole, isWholePrompt || !read),
  }
}

function finishOf(reason: unknown): Finish | undefined {
  if (!isObject(reason)) return undefined
  const { type, matched, message } = reason
  const stop =
    typeof matched === 'string' || Number.isSafeInteger(matched) ? { matched: matched as string | number } : {}
  if (type === 'stop') return { kind: 'stop', ...stop }
  if (type === 'length') return { kind: 'length' }
  if (type === 'abort') return { kind: 'abort', ...(typeof message === 'string' && { message }) }
  return { kind: 'unknown', raw: String(type) }
}

/** The version of the weights, if the server reports only one. */
function weightVersions({ weight_version: version }: JsonObject, end: number) {
  return typeof version === 'string' && end > 0 ? [{ version, start: 0, end }] : undefined
}

const OF_REPLY = ['output_token_logprobs', 'output_top_logprobs', 'finish_reason', 'weight_version', 'weight_versions']
const OF_PROMPT = ['input_token_logprobs', 'input_top_logprobs']

function restOf(reply: JsonObject, meta: JsonObject, isWhole: boolean, isWholePrompt: boolean): JsonObject | undefined {
  const left = without(meta, [...(isWhole ? OF_REPLY : []), ...(isWholePrompt ? OF_PROMPT : [])])
  const others = without(reply, ['text', 'output_ids', 'prompt_token_ids', 'meta_info'])
  return left || others ? storable({ ...others, ...(left && { meta_info: left }) }) : undefined
}

/** A column is whole in the last chunk if it has as many entries as the server counts; otherwise the chunks add to it. */
function joinedReply(chunks: readonly Reply[]): JsonObject {
  const metas = chunks.map(({ meta_info }) => meta_info)
  const last = elementAt(metas, metas.length - 1)
  const isWhole = (list: readonly unknown[] | undefined): boolean => list?.length === last.completion_tokens
  const column = (objects: readonly JsonObject[], key: string) => {
    const found = objects.map((object) => object[key]).filter(isList)
    const whole = found.at(-1)
    if (!whole) return {}
    return { [key]: isWhole(whole) ? whole : found.flat() }
  }
  const texts = chunks.map(({ text }) => (typeof text === 'string' ? text : ''))
  const lists = chunks.map((chunk) => chunk.output_ids).filter(isList)
  // Texts repeat what the ids repeat. Without ids, the texts alone decide.
  const isCumulative =
    (lists.length === 0 || isWhole(lists.at(-1))) &&
    texts.every((text, index) => index === 0 || text.startsWith(elementAt(texts, index - 1)))
  return {
    ...chunks.at(-1),
    text: isCumulative ? texts.at(-1) : joinedTexts(chunks, 'text'),
    ...column(chunks, 'output_ids'),
    meta_info: {
      ...last,
      finish_reason: last.finish_reason ?? { type: 'the stream ended early' },
      input_token_logprobs: lastOf(metas.filter(hasPromptLogprobs), 'input_token_logprobs') ?? [],
      input_top_logprobs: lastOf(metas.filter(hasPromptLogprobs), 'input_top_logprobs') ?? [],
      ...column(metas, 'output_token_logprobs'),
      ...column(metas, 'output_top_logprobs'),
    },
  }
}

const hasPromptLogprobs = ({ input_token_logprobs: list }: JsonObject): boolean =>
  Array.isArray(list) && list.length > 0

/** Reads replies of /v1/chat/completions in all layouts, and those of vLLM's /inference/v1/generate, which have no message. */
import { isObject, type JsonObject, storable, without } from '#lib/json/json-object.ts'
import type { Finish, Problem, ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import { isoTime } from '../foreign-trajectory.ts'
import { joinedPath, refuse } from '../reading/record-error.ts'
import { logprobsById } from './logprobs-by-id.ts'
import { type ModelCall, type ReplyEngine, requestFacts } from './model-call.ts'
import { replyColumns } from './reply-columns.ts'
import { idsOfChoice, type ReplyPath, sameIds } from './reply-ids.ts'
import { entriesOf, tupleEntries } from './token-entries.ts'

/** Returns a call for each choice of a reply. `path` is that of the reply in its record. */
export function chatCalls(reply: JsonObject, request: JsonObject | undefined, path = ''): readonly ModelCall[] {
  const { choices } = reply
  if (!Array.isArray(choices) || choices.length === 0)
    return refuse(joinedPath(path, 'choices'), 'at least one choice', choices)
  return choices.map((choice: unknown, index) => {
    const at = { reply: path, choice: joinedPath(path, `choices[${index}]`) }
    return isObject(choice) ? chatCall(reply, choice, request, at) : refuse(at.choice, 'an object', choice)
  })
}

/** Returns the call of a choice. */
export function chatCall(
  reply: JsonObject,
  choice: JsonObject,
  request: JsonObject | undefined,
  at: ReplyPath,
): ModelCall {
  const facts = requestFacts(request)
  const ids = idsOfChoice(reply, choice, at)
  const promptIds = ids.prompt ?? sameIds([[joinedPath(at.reply, 'request.token_ids'), request?.token_ids]])
  const promptPath = joinedPath(at.reply, 'prompt_logprobs')
  const promptEntries = promptIds && logprobsById(reply.prompt_logprobs, promptIds, promptPath)
  const prompt =
    promptIds &&
    replyColumns({ ids: promptIds, entries: promptEntries, paths: { ids: promptPath, entries: promptPath } })
  const logprobs = isObject(choice.logprobs) ? choice.logprobs : {}
  const meta = isObject(choice.meta_info) ? choice.meta_info : {}
  const content = entriesOf(logprobs.content, joinedPath(at.choice, 'logprobs.content'))
  const tuples = tupleEntries(
    meta.output_token_logprobs,
    meta.output_top_logprobs,
    joinedPath(at.choice, 'meta_info.output_token_logprobs'),
  )
  // SGLang's tuples have the ids of the alternatives, which the entries of chat completions lack.
  const entries = content?.map((entry, index) => {
    const tuple = tuples?.length === content.length ? tuples[index] : undefined
    return { ...entry, id: entry.id ?? tuple?.id, alternatives: tuple?.alternatives ?? entry.alternatives }
  })
  const columns = replyColumns({
    ids: ids.reply,
    entries: entries ?? tuples,
    paths: { ids: joinedPath(at.choice, 'token_ids'), entries: joinedPath(at.choice, 'logprobs.content') },
  })
  const { vocab, lacked, isWhole, problems = [], ...tokens } = columns
  const message = isObject(choice.message) ? choice.message : undefined
  const all = [...problems, ...countProblems(reply, promptIds?.length, columns.ids.length)]
  const finish = finishOf(choice)
  const weights = weightVersionsIn(reply, choice, columns.ids.length)
  const response: ResponseSegment = {
    kind: 'response',
    ...tokens,
    thinks: [],
    toolCalls: [],
    ...(all.length > 0 && { problems: all }),
    ...(message && { message: storable(message) }),
    ...(finish && { finish }),
    ...usageField(reply.usage),
    ...(weights.length > 0 && { weightVersions: weights }),
  }
  const isText = columns.ids.length === 0
  return {
    ...facts,
    prompt: prompt && {
      ids: prompt.ids,
      ...(prompt.logprobs && { logprobs: prompt.logprobs }),
      ...(prompt.topLogprobs && { topLogprobs: prompt.topLogprobs }),
      ...(message && { derivation: { kind: 'reported' } }),
    },
    response,
    vocab: { ...prompt?.vocab, ...vocab },
    model: typeof reply.model === 'string' ? reply.model : undefined,
    engine: engineOf(reply, choice),
    createdAt: isoTime(reply.created),
    lacked: [...lacked, ...(promptIds || isText ? [] : ['ids of the prompt'])],
    rest: restOf(promptEntries ? { ...reply, prompt_logprobs: null } : reply, choice, isWhole),
  }
}

const STOPS = ['stop', 'tool_calls', 'function_call', 'eos', 'end_turn']

/** Returns why a reply ended: the reason of chat completions, with what was matched. Undefined: the file does not say. */
export function finishOf(choice: JsonObject): Finish | undefined {
  const provider = isObject(choice.provider_specific_fields) ? choice.provider_specific_fields : {}
  const reason = choice.finish_reason
  if (typeof reason !== 'string') return undefined
  const matched = [choice.matched_stop, choice.stop_reason, provider.matched_stop].find(isStop)
  if (STOPS.includes(reason)) return { kind: 'stop', ...(matched !== undefined && { matched }) }
  if (reason === 'length') return { kind: 'length' }
  return reason === 'abort' ? { kind: 'abort' } : { kind: 'unknown', raw: reason }
}

const isStop = (value: unknown): value is number | string =>
  (typeof value === 'number' && Number.isSafeInteger(value)) || typeof value === 'string'

/** Returns the counts of the server as the `usage` of a response. */
export function usageField(usage: unknown): Pick<ResponseSegment, 'usage'> {
  if (!isObject(usage)) return {}
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const counts = {
    ...count('promptTokens', usage.prompt_tokens),
    ...count('completionTokens', usage.completion_tokens),
    ...count('cachedTokens', details.cached_tokens),
  }
  return Object.keys(counts).length > 0 ? { usage: counts } : {}
}

const count = <Name extends string>(name: Name, value: unknown) =>
  Number.isSafeInteger(value) ? ({ [name]: value } as Record<Name, number>) : {}

function countProblems({ usage }: JsonObject, prompt: number | undefined, reply: number): readonly Problem[] {
  const { promptTokens, completionTokens } = usageField(usage).usage ?? {}
  const several = isObject(usage) && Number(usage.n ?? 1) > 1
  return [
    ...(prompt !== undefined && promptTokens !== undefined && promptTokens !== prompt
      ? [differs('prompt_tokens', promptTokens, prompt)]
      : []),
    ...(reply > 0 && !several && completionTokens !== undefined && completionTokens < reply
      ? [differs('completion_tokens', completionTokens, reply)]
      : []),
  ]
}

const differs = (name: string, counted: number, ids: number): Problem => ({
  kind: 'count',
  message: `The server counted ${counted} ${name}, and the file has ${ids} ids.`,
})

type WeightVersions = NonNullable<ResponseSegment['weightVersions']>

function weightVersionsIn(reply: JsonObject, choice: JsonObject, length: number): WeightVersions {
  const metadata = isObject(reply.metadata) ? reply.metadata : {}
  const weightVersions = [choice.weight_versions, metadata.weight_versions].find(Array.isArray) ?? []
  const versions = weightVersions.flatMap((part: unknown) => {
    if (!isObject(part) || typeof part.version !== 'string') return []
    const { version, start, end } = part
    return isIndex(start) && isIndex(end) && start <= end && end <= length ? [{ version, start, end }] : []
  })
  return versions.length === weightVersions.length ? versions : []
}

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** Returns the program that wrote a reply, by the fields that only it writes. */
export function engineOf(reply: JsonObject, choice: JsonObject): ReplyEngine | undefined {
  const provider = isObject(choice.provider_specific_fields) ? choice.provider_specific_fields : {}
  const metadata = isObject(reply.metadata) ? reply.metadata : {}
  const fingerprint = typeof reply.system_fingerprint === 'string' ? reply.system_fingerprint : ''
  if (fingerprint.startsWith('vllm') || 'kv_transfer_params' in reply) return 'vllm'
  if ('timings' in reply) return 'llama.cpp'
  const isSglang =
    'meta_info' in choice ||
    'response_token_ids' in choice ||
    'matched_stop' in choice ||
    'matched_stop' in provider ||
    'weight_version' in metadata
  return isSglang ? 'sglang' : undefined
}

/** Content of these fields is in the columns or fields of the segments. */
const READ_OF_REPLY = ['choices', 'prompt_token_ids', 'model', 'created', 'usage', 'object', 'metadata']
const READ_OF_CHOICE = ['token_ids', 'response_token_ids', 'prompt_token_ids', 'message', 'index', 'finish_reason']
const READ_OF_META = ['output_token_logprobs', 'output_top_logprobs', 'output_token_logprobs_length']

function restOf(reply: JsonObject, choice: JsonObject, isWhole: boolean): JsonObject | undefined {
  const { provider_specific_fields: provider, meta_info: meta } = choice
  const inProvider = isObject(provider) ? without(provider, READ_OF_CHOICE) : undefined
  const inMeta = isObject(meta) ? without(meta, isWhole ? READ_OF_META : []) : undefined
  const ofChoice = without(choice, [
    ...READ_OF_CHOICE,
    'provider_specific_fields',
    'meta_info',
    ...(isWhole ? ['logprobs'] : []),
  ])
  const rest = {
    ...filled(without(reply, READ_OF_REPLY)),
    ...filled({
      ...ofChoice,
      ...(inProvider && { provider_specific_fields: inProvider }),
      ...(inMeta && { meta_info: inMeta }),
    }),
  }
  return Object.keys(rest).length > 0 ? rest : undefined
}

/** A null says nothing, and replies have many. */
const filled = (value: JsonObject | undefined): JsonObject =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, content]) => content !== null))

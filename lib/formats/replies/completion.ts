/** Replies of /v1/completions, whole and streamed: one text, with the logprobs of its tokens and, with echo, of the prompt. */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { isoTime } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { choicesByIndex, lists, mergedFields, withoutNullFields } from './chat-chunks.ts'
import { samplesOfCalls } from './chat-completion.ts'
import { engineOf, finishOf, usageField } from './chat-reply.ts'
import { logprobsById } from './logprobs-by-id.ts'
import { type ModelCall, requestFacts } from './model-call.ts'
import { type ReplyColumns, replyColumns } from './reply-columns.ts'
import { idsOfChoice, type ReplyIds } from './reply-ids.ts'
import { joinedLists, joinedTexts, lastOf, streamFormat } from './streams.ts'
import { entriesOf, type TokenEntry } from './token-entries.ts'

const NAME = 'completion'

/** The format of whole replies. */
export const completion: Format = {
  name: NAME,
  label: 'text completions',
  keeps: 'Ids, logprobs of reply and prompt, alternatives and text of replies of /v1/completions.',
  sniff: (value) =>
    isCompletion(value) &&
    value.choices.length > 0 &&
    isObject(value.usage) &&
    value.choices.every((choice) => isObject(choice) && !isOpen(choice)),
  read: catchRefusals((value, source) => {
    const reply = value as JsonObject
    const choices = (reply.choices as readonly unknown[]).filter(isObject)
    const calls = choices.map((choice, index) => completionCall(reply, choice, `choices[${index}]`))
    return samplesOfCalls(calls, reply, { format: NAME }, source)
  }),
}

/** The format of streamed replies. */
export const completionStream: Format = streamFormat(completion, isCompletion, joinedReply)

function isCompletion(value: unknown): value is JsonObject & { readonly choices: readonly unknown[] } {
  if (!isObject(value) || !Array.isArray(value.choices)) return false
  const hasTexts = value.choices.every((choice) => isObject(choice) && typeof choice.text === 'string')
  return hasTexts && (value.choices.length > 0 || value.object === 'text_completion')
}

const isOpen = ({ finish_reason }: JsonObject): boolean => finish_reason === null || finish_reason === undefined

function completionCall(reply: JsonObject, choice: JsonObject, path: string): ModelCall {
  const ids = idsOfChoice(reply, choice, { reply: '', choice: path })
  const logprobs = isObject(choice.logprobs) ? choice.logprobs : {}
  const all = entriesOf(entryObjects(logprobs), `${path}.logprobs`) ?? []
  const echo = echoLength(ids, all.length)
  const paths = { ids: `${path}.token_ids`, entries: `${path}.logprobs` }
  const columns = replyColumns({ ids: ids.reply, entries: all.slice(echo), paths })
  const { vocab, lacked, isWhole, problems, ...tokens } = columns
  const prompt = ids.prompt && promptPart(ids.prompt, all.slice(0, echo), choice, path)
  const finish = finishOf(choice)
  return {
    ...requestFacts(undefined),
    prompt: prompt?.part,
    response: {
      kind: 'response',
      ...tokens,
      thinks: [],
      toolCalls: [],
      ...(problems && { problems }),
      // With echo the text begins with that of the prompt.
      ...(echo > 0 ? {} : { message: { content: choice.text } }),
      ...(finish && { finish }),
      ...usageField(reply.usage),
    },
    vocab: { ...prompt?.vocab, ...vocab },
    model: typeof reply.model === 'string' ? reply.model : undefined,
    engine: engineOf(reply, choice),
    createdAt: isoTime(reply.created),
    lacked: [...lacked, ...(ids.prompt || columns.ids.length === 0 ? [] : ['ids of the prompt'])],
    rest: without(withoutNullFields({ ...reply, ...choice }), [
      ...['choices', 'usage', 'model', 'created', 'object', 'metadata', 'index', 'finish_reason'],
      ...['token_ids', 'prompt_token_ids', 'prompt_logprobs'],
      ...(isWhole && all.length > 0 ? ['logprobs'] : []),
      ...(echo > 0 ? [] : ['text']),
    ]),
  }
}

/** Returns the number of entries that belong to the prompt: with echo they are before those of the reply. */
const echoLength = ({ prompt, reply }: ReplyIds, entries: number): number =>
  prompt && reply && entries === prompt.length + reply.length ? prompt.length : 0

/** Converts the parallel lists of a text completion to entries. Keys of the alternatives are texts, or `token_id:42`. */
function entryObjects({ tokens, token_logprobs, top_logprobs }: JsonObject): readonly JsonObject[] | undefined {
  if (!Array.isArray(tokens) || !Array.isArray(token_logprobs) || tokens.length !== token_logprobs.length)
    return Array.isArray(token_logprobs) ? token_logprobs.map((logprob) => ({ logprob })) : undefined
  const tops: readonly unknown[] = Array.isArray(top_logprobs) ? top_logprobs : []
  return tokens.map((token: unknown, index) => {
    const top = tops[index]
    const alternatives = isObject(top) ? Object.entries(top).map(([text, logprob]) => ({ token: text, logprob })) : []
    return { token, logprob: token_logprobs[index] as unknown, top_logprobs: alternatives.sort(byLogprob) }
  })
}

const byLogprob = (a: JsonObject, b: JsonObject): number => Number(b.logprob) - Number(a.logprob)

/** The logprobs of a prompt are in the echo, or in vLLM's `prompt_logprobs`. */
function promptPart(ids: readonly number[], echo: readonly TokenEntry[], choice: JsonObject, path: string) {
  const inputLogprobs = logprobsById(choice.prompt_logprobs, ids, `${path}.prompt_logprobs`)
  const paths = { ids: `${path}.prompt_token_ids`, entries: `${path}.logprobs` }
  const columns: ReplyColumns = replyColumns({ ids, entries: inputLogprobs ?? echo, paths })
  const { vocab, lacked: _, isWhole: __, ...part } = columns
  return { part: { ...part, derivation: { kind: 'given' as const } }, vocab }
}

function joinedReply(chunks: readonly JsonObject[]): JsonObject {
  return {
    ...mergedFields(chunks),
    object: 'text_completion',
    choices: choicesByIndex(chunks).map((parts) => {
      const logprobs = parts.map((part) => (isObject(part.logprobs) ? part.logprobs : {}))
      return {
        ...mergedFields(parts),
        ...lists(parts, ['token_ids']),
        prompt_token_ids: lastOf(parts, 'prompt_token_ids'),
        text: joinedTexts(parts, 'text'),
        logprobs: {
          tokens: joinedLists(logprobs, 'tokens'),
          token_logprobs: joinedLists(logprobs, 'token_logprobs'),
          top_logprobs: joinedLists(logprobs, 'top_logprobs'),
        },
      }
    }),
  }
}

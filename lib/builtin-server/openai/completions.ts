/** Serves /v1/completions: continues texts or ids as /generate does, with complete or streamed replies. */

import type { GenerateBody } from '#lib/builtin-server/generate/generate-body.ts'
import type { GenerateServing, IndexedReply } from '#lib/builtin-server/generate/generate-endpoint.ts'
import type { ReplyJson } from '#lib/builtin-server/generate/reply.ts'
import { serverSentEvent } from '#lib/builtin-server/http/event-stream.ts'
import { readJsonObject } from '#lib/builtin-server/http/json-body.ts'
import { decodeIds, type Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { answerOpenAi } from './answer.ts'
import { type CompletionBody, completionBody } from './completion-body.ts'
import { type Counts, completionLogprobs, createdSeconds, ending, totalUsage, usage, weights } from './openai-reply.ts'

/** Answers a request. Throws HttpRefusal. */
export async function completions(request: Request, ready: () => Promise<GenerateServing>): Promise<Response> {
  const body = completionBody(await readJsonObject(request, 'fields'))
  const serving = await ready()
  const generateBody = generateBodyOf(body)
  return answerOpenAi(generateBody, serving, request.signal, {
    stream: body.stream,
    whole: (replies) => completion(replies, body, serving.vocabulary),
    events: (growing) => events(growing, body, serving.vocabulary),
  })
}

const generateBodyOf = ({
  prompt,
  sampling,
  stream,
  echoes,
  logprobs,
  returnsIds,
  rid,
}: CompletionBody): GenerateBody => ({
  stream: stream !== undefined,
  text: prompt.kind === 'text' ? prompt.text : undefined,
  inputIds: prompt.kind === 'ids' ? prompt.ids : undefined,
  rid,
  sampling,
  bound: undefined,
  unsupported: [],
  return_logprob: logprobs !== undefined,
  // Echoed prompts have logprobs, but only if alternatives are requested.
  logprob_start_len: echoes && logprobs ? 0 : undefined,
  top_logprobs_num: logprobs,
  token_ids_logprob: undefined,
  return_text_in_logprobs: false,
  return_prompt_token_ids: returnsIds,
})

function completion(replies: readonly ReplyJson[], body: CompletionBody, vocabulary: Vocabulary): object {
  const [first] = replies as readonly [ReplyJson]
  return {
    id: first.meta_info.id,
    object: 'text_completion',
    created: createdSeconds(),
    model: body.model,
    choices: replies.map((reply, index) => ({
      index,
      text: echoOf(index, body, vocabulary) + reply.text,
      logprobs: logprobsOf(reply, body, vocabulary, true),
      ...ending(reply),
      ...(body.returnsIds && { token_ids: reply.output_ids, prompt_token_ids: reply.prompt_token_ids }),
    })),
    usage: totalUsage(replies.map(countsOf), body.count),
    metadata: weights(first),
  }
}

async function* events(
  growing: AsyncIterable<IndexedReply>,
  body: CompletionBody,
  vocabulary: Vocabulary,
): AsyncGenerator<string> {
  const head = { object: 'text_completion', created: createdSeconds(), model: body.model }
  const streamRequest = body.stream
  const counts = new Map<number, Counts>()
  let id = ''
  for await (const { index, reply } of growing) {
    id = reply.meta_info.id
    const isFirst = !counts.has(index)
    counts.set(index, countsOf(reply))
    const choice = {
      index,
      text: (isFirst ? echoOf(index, body, vocabulary) : '') + reply.text,
      logprobs: logprobsOf(reply, body, vocabulary, isFirst),
      ...ending(reply),
      ...(body.returnsIds && {
        token_ids: reply.output_ids,
        ...(isFirst && { prompt_token_ids: reply.prompt_token_ids }),
      }),
    }
    yield serverSentEvent({
      id,
      ...head,
      choices: [choice],
      usage: streamRequest?.includesUsageEach ? usage(countsOf(reply)) : null,
    })
  }
  if (streamRequest?.includesUsage) {
    const inOrder = [...counts].sort(([a], [b]) => a - b).map(([, one]) => one)
    yield serverSentEvent({ id, ...head, choices: [], usage: withoutNulls(totalUsage(inOrder, body.count)) })
  }
}

/** SGLang omits null fields in this chunk. */
const withoutNulls = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== null))

const countsOf = ({ meta_info: meta }: ReplyJson): Counts => ({
  prompt: meta.prompt_tokens ?? 0,
  completion: meta.completion_tokens,
  reasoning: 0,
})

/** Returns the echoed prompt of a reply: its text unchanged, or the text of its ids without special tokens. */
function echoOf(index: number, { prompt, count, echoes }: CompletionBody, vocabulary: Vocabulary): string {
  if (!echoes) return ''
  const place = Math.floor(index / count)
  if (prompt.kind === 'text') return elementAt([prompt.text].flat(), place)
  const ids = typeof prompt.ids[0] === 'number' ? prompt.ids : prompt.ids[place]
  return decodeIds(vocabulary, ids as readonly number[], 'no special tokens')
}

/** Returns the logprobs of a reply. `isFirst`: those of the prompt come before them. */
function logprobsOf(
  { meta_info: meta, output_ids: ids }: ReplyJson,
  { logprobs, echoes }: CompletionBody,
  vocabulary: Vocabulary,
  isFirst: boolean,
): object | null {
  const withPrompt = isFirst && echoes && (logprobs ?? 0) > 0
  if (logprobs === undefined || (ids.length === 0 && !withPrompt)) return null
  return completionLogprobs(
    [...((withPrompt && meta.input_token_logprobs) || []), ...(meta.output_token_logprobs ?? [])],
    [...((withPrompt && meta.input_top_logprobs) || []), ...(meta.output_top_logprobs ?? [])],
    vocabulary,
  )
}

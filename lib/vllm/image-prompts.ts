/**
 * Prompts with images, which /v1/completions does not take. /inference/v1/generate takes the images beside the ids, with a placeholder
 * for each; vLLM has it with --enable-scale-out. Elsewhere the images are parts of messages at /v1/chat/completions, which renders the
 * conversation itself. Both report the ids that the model read, and their replies have one form: that of /v1/completions.
 */
import * as z from 'zod'
import { CHAT_PATH, finishReasonOf } from '#lib/engine/chat.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { RequestImages } from '#lib/engine/images.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { toEngineInput } from '#lib/trajectory/images/engine-input.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { vllmChatBody } from './chat-form.ts'
import { type Completion, choiceSchema, completionSchema, idText } from './reply.ts'

/** The path of the endpoint that takes images beside ids. */
export const GENERATE_PATH = '/inference/v1/generate'

/** Fields of a request that both endpoints take, by the names of /v1/completions. */
type Fields = Readonly<Record<string, unknown>>

/** A request with images. */
export type ImageRequest = GenerateRequest & { readonly images: RequestImages }

/** An endpoint of vLLM that samples a reply. */
export interface ImageEndpoint {
  readonly path: string
  /** Returns the body from that of /v1/completions. `alternatives` is the number to request for each token. */
  readonly body: (fields: Fields, request: ImageRequest, alternatives: number) => Fields
  /** Returns a reply, or an event of its stream, in the form of /v1/completions. */
  readonly schema: (request: ImageRequest) => z.ZodType<Completion>
}

/** Parameters that /inference/v1/generate takes beside those of sampling. */
const BESIDE_SAMPLING = ['model', 'stream', 'stream_options', 'priority', 'cache_salt']

const { prompt_logprobs: promptLogprobsSchema } = choiceSchema.shape
const idsSchema = z.array(z.int().min(0))
const { index, finish_reason, stop_reason, token_ids } = choiceSchema.shape

/** Returns the schema of a whole reply, or of an event of its stream. The endpoints differ in how they name a token with its logprob. */
const replySchema = <Ranked extends z.ZodObject>(ranked: Ranked) =>
  z.looseObject({
    choices: z.array(
      z.looseObject({
        index,
        finish_reason,
        stop_reason,
        token_ids,
        logprobs: z
          .looseObject({
            content: z
              .array(z.intersection(ranked, z.looseObject({ top_logprobs: z.array(ranked).nullish() })))
              .nullish(),
          })
          .nullish(),
      }),
    ),
    usage: completionSchema.shape.usage,
    prompt_token_ids: idsSchema.nullish(),
    prompt_logprobs: promptLogprobsSchema,
  })

const rankedSchema = z.looseObject({ token_id: z.int().min(0), logprob: z.number() })

/** Schema of a whole reply of /inference/v1/generate, or of an event of its stream. */
export const generatedSchema = replySchema(rankedSchema).extend({
  mm_placeholders: z.record(z.string(), z.array(z.unknown())).nullish(),
})

/** /inference/v1/generate: ids in and ids out, with images. */
export const generateEndpoint: ImageEndpoint = {
  path: GENERATE_PATH,
  body({ prompt: _, return_token_ids: __, return_tokens_as_token_ids: ___, ...fields }, request, alternatives) {
    const entries = Object.entries(fields)
    const sampling = Object.fromEntries(entries.filter(([name]) => !BESIDE_SAMPLING.includes(name)))
    return {
      ...Object.fromEntries(entries.filter(([name]) => BESIDE_SAMPLING.includes(name))),
      token_ids: toEngineInput(request).inputIds,
      content_parts: request.images.urls.map((url) => ({ type: 'image_url', url })),
      sampling_params: { ...sampling, logprobs: alternatives },
      return_token_ids: true,
    }
  },
  schema: ({ images, topLogprobsNum }) =>
    generatedSchema.transform(({ choices, usage, mm_placeholders: read, ...prompt }): Completion => {
      // A version that does not know content_parts ignores it, and the model reads no image.
      const count = read?.image?.length ?? 0
      if (prompt.prompt_token_ids && count !== images.urls.length)
        throw new EngineError(
          'INCONSISTENT',
          `the server read ${countWithNoun(count, 'image')}, ${images.urls.length} were sent`,
        )
      return {
        usage,
        choices: choices.map(({ logprobs: listed, ...choice }) => ({
          ...choice,
          ...prompt,
          logprobs: listed?.content && logprobsOf(listed.content.map(namedTokens), topLogprobsNum),
        })),
      }
    }),
}

const namedTokens = ({
  top_logprobs: top,
  ...sampled
}: Ranked & { readonly top_logprobs?: readonly Ranked[] | null | undefined }): Scored => ({
  ...named(sampled),
  top_logprobs: top?.map(named),
})
type Ranked = z.infer<typeof rankedSchema>
const named = ({ token_id: id, logprob }: Ranked) => ({ token: idText(id), logprob })

interface Scored {
  readonly token: string
  readonly logprob: number
  readonly top_logprobs?: readonly { readonly token: string; readonly logprob: number }[] | null | undefined
}

const chatEventSchema = replySchema(z.looseObject({ token: z.string(), logprob: z.number() }))

/** /v1/chat/completions: messages in and ids out. The ids that it read are compared with those of the request. */
export const chatEndpoint: ImageEndpoint = {
  path: CHAT_PATH,
  body({ prompt: _, max_tokens: most, model, ...fields }, { images: { conversation } }, alternatives) {
    if (!conversation)
      throw new EngineError('REQUEST_REFUSED', 'the server takes images in messages only, and the prompt has none')
    const chat = vllmChatBody({ ...conversation, model: String(model), sampling: { max_completion_tokens: most } })
    return {
      ...chat,
      // The ids are read here, so the server needs no parser for calls.
      ...(conversation.tools.length > 0 && { tool_choice: 'none' }),
      ...fields,
      logprobs: true,
      top_logprobs: alternatives,
    }
  },
  schema: ({ topLogprobsNum }) =>
    chatEventSchema.transform(
      ({ choices, usage, prompt_token_ids: promptIds, prompt_logprobs: scores }): Completion => ({
        usage,
        // The first event of a stream has the ids of the prompt.
        choices: choices.map(({ finish_reason: reason, logprobs: listed, ...choice }) => ({
          index: choice.index,
          stop_reason: choice.stop_reason,
          token_ids: choice.token_ids,
          finish_reason: reason && finishReasonOf(reason),
          prompt_token_ids: promptIds,
          prompt_logprobs: scores,
          logprobs: listed?.content && logprobsOf(listed.content, topLogprobsNum),
        })),
      }),
    ),
}

/** Returns logprobs in the form of /v1/completions. */
function logprobsOf(
  content: readonly Scored[],
  alternatives: number,
): NonNullable<Completion['choices'][number]['logprobs']> {
  return {
    tokens: content.map(({ token }) => token),
    token_logprobs: content.map(({ logprob }) => logprob),
    top_logprobs: content.map((scored) => Object.fromEntries(mostLikely(scored, alternatives))),
  }
}

/**
 * Returns the alternatives that are certainly among the most likely ones. These endpoints list the sampled token first, and after it as
 * many of the most likely ones as fit. So of a full list whose least likely token is the sampled one, this token is left out.
 */
function mostLikely(
  { token, top_logprobs: listed }: Scored,
  alternatives: number,
): readonly (readonly [string, number])[] {
  const rows = (listed ?? []).map((row) => [row.token, row.logprob] as const)
  const least = Math.min(...rows.map(([, logprob]) => logprob))
  return rows.length > alternatives
    ? rows
    : rows.filter(([text, logprob]) => text !== token || logprob > least || rows.length < alternatives)
}

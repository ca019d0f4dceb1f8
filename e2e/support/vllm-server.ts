/** A server that answers as vLLM does: the built-in server computes, and its replies are written in the form of vLLM 0.32. */
import { createServer } from 'node:http'
import { closeServer, listeningUrl } from '#testing/listening.ts'
import { APPLICATION_URL } from './application.ts'

/** A running server with its log. */
export interface VllmServer {
  readonly baseUrl: string
  /** Bodies of the completions, without the short requests that ask what the server can do. */
  readonly completions: readonly CompletionBody[]
  close(): Promise<void>
}

/** A body of /v1/completions, as far as this server reads it. */
interface CompletionBody {
  readonly prompt: readonly number[]
  readonly max_tokens: number
  readonly temperature?: number
  readonly logprobs: number
  readonly prompt_logprobs?: number
  readonly stream?: boolean
  readonly allowed_token_ids?: readonly number[]
}

/** How the server differs from vLLM. */
export interface VllmDifferences {
  /** False: it returns texts only, as most servers in OpenAI’s form do. */
  readonly returnsIds: boolean
  /** False: it is another server in OpenAI’s form, without prompt logprobs, ids in streams and ids of chats. */
  readonly isVllm: boolean
}

const MODEL = 'tiny-qwen3'
const MOST_ALTERNATIVES = 20

/** Starts the server. */
export async function startVllmServer(
  differences: VllmDifferences = { returnsIds: true, isVllm: true },
): Promise<VllmServer> {
  const completions: CompletionBody[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const text = Buffer.concat(parts).toString()
    const answer = await answerTo(request.url ?? '', text === '' ? {} : JSON.parse(text), differences, completions)
    response.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'application/json' })
    response.end(answer.text ?? JSON.stringify(answer.json))
  })
  return { baseUrl: await listeningUrl(server), completions, close: () => closeServer(server) }
}

interface Answer {
  readonly status?: number
  readonly type?: string
  readonly json?: unknown
  readonly text?: string
}

/** The answer of vLLM with a model that reads no images. */
const NO_IMAGES: Answer = {
  status: 400,
  json: { error: { message: 'tiny-qwen3 is not a multimodal model', type: 'BadRequestError', param: null, code: 400 } },
}

const NOT_FOUND: Answer = { status: 404, json: { detail: 'Not Found' } }

async function answerTo(
  path: string,
  body: Record<string, unknown>,
  differences: VllmDifferences,
  completions: CompletionBody[],
): Promise<Answer> {
  const { isVllm } = differences
  switch (path) {
    case '/health':
      return { text: '' }
    case '/version':
      return isVllm ? { json: { version: '0.32.0' } } : NOT_FOUND
    case '/v1/models': {
      const model = { id: MODEL, object: 'model', max_model_len: 4096 }
      return { json: { data: [isVllm ? { ...model, owned_by: 'vllm', root: `/models/${MODEL}` } : model] } }
    }
    case '/metrics':
      return isVllm ? { type: 'text/plain', text: METRICS } : NOT_FOUND
    case '/tokenize':
      return isVllm ? { json: await tokenize(body) } : NOT_FOUND
    case '/detokenize':
      return isVllm ? { json: { prompt: await decode(body.tokens as readonly number[], false) } } : NOT_FOUND
    case '/v1/completions':
      return complete(body as unknown as CompletionBody, differences, completions)
    case '/v1/chat/completions':
      if (JSON.stringify(body.messages).includes('"image_url"')) return NO_IMAGES
      return isVllm ? chat(body) : NOT_FOUND
    default:
      return NOT_FOUND
  }
}

const METRICS = `vllm:num_requests_running{engine="0",model_name="${MODEL}"} 0.0
vllm:num_requests_waiting{engine="0",model_name="${MODEL}"} 0.0
vllm:kv_cache_usage_perc{engine="0",model_name="${MODEL}"} 0.0
`

async function ofBuiltIn<T>(path: string, json: object): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${APPLICATION_URL}/sglang${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(json),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

async function tokenize(body: Record<string, unknown>): Promise<object> {
  const { tokens } = await ofBuiltIn<{ readonly tokens: readonly number[] }>('/v1/tokenize', body)
  return { count: tokens.length, max_model_len: 4096, tokens }
}

async function decode(ids: readonly number[], skipSpecial: boolean): Promise<string> {
  const json = { tokens: [ids], skip_special_tokens: skipSpecial }
  const { text } = await ofBuiltIn<{ readonly text: readonly string[] }>('/v1/detokenize', json)
  return text[0] ?? ''
}

type Row = readonly [logprob: number | null, id: number, text: unknown]

interface Reply {
  readonly text: string
  readonly meta_info: {
    readonly finish_reason: { readonly type: string }
    readonly cached_tokens: number
    readonly input_token_logprobs?: readonly Row[]
    readonly input_top_logprobs?: readonly (readonly Row[] | null)[]
    readonly output_token_logprobs: readonly Row[]
    readonly output_top_logprobs: readonly (readonly Row[])[]
  }
}

async function complete(
  body: CompletionBody,
  { returnsIds, isVllm }: VllmDifferences,
  completions: CompletionBody[],
): Promise<Answer> {
  const { prompt, stream = false, logprobs: alternatives, prompt_logprobs: scored, allowed_token_ids: forced } = body
  if (alternatives > MOST_ALTERNATIVES)
    return {
      status: 400,
      json: {
        error: {
          message: `Requested sample logprobs of ${alternatives}, which is greater than max allowed: ${MOST_ALTERNATIVES} (parameter=logprobs, value=${alternatives})`,
          code: 400,
        },
      },
    }
  // The server is asked whether an id is a special token.
  if (forced) return { json: { choices: [{ index: 0, text: await decode(forced, true) }] } }
  const isProbe = prompt.length === 2
  if (!isProbe) completions.push(body)
  const reply = await ofBuiltIn<Reply>('/generate', {
    input_ids: prompt,
    sampling_params: {
      temperature: body.temperature,
      max_new_tokens: body.max_tokens,
      no_stop_trim: true,
      skip_special_tokens: false,
    },
    return_logprob: true,
    top_logprobs_num: alternatives,
    ...(scored !== undefined && { logprob_start_len: 0 }),
  })
  const { meta_info: meta } = reply
  // The bias of the probe is not given to the built-in server: its token gets a logprob of its own.
  const rows: readonly Row[] = isProbe && 'logit_bias' in body ? [[-16, 0, null]] : meta.output_token_logprobs
  const named = (id: number) => (returnsIds ? `token_id:${id}` : 'a')
  const choiceOf = (from: number, end: number, text: string) => ({
    index: 0,
    text,
    logprobs: {
      tokens: rows.slice(from, end).map(([, id]) => named(id)),
      token_logprobs: rows.slice(from, end).map(([logprob]) => logprob),
      top_logprobs: meta.output_top_logprobs
        .slice(from, end)
        .map((row) => Object.fromEntries(row.map(([logprob, id]) => [named(id), logprob]))),
    },
    finish_reason: end === rows.length ? meta.finish_reason.type : null,
    stop_reason: null,
    ...(returnsIds && isVllm && { token_ids: rows.slice(from, end).map(([, id]) => id) }),
  })
  const usage = {
    prompt_tokens: prompt.length,
    completion_tokens: rows.length,
    ...(isVllm && { prompt_tokens_details: { cached_tokens: meta.cached_tokens } }),
  }
  if (!stream || !isVllm)
    return {
      json: {
        choices: [
          {
            ...choiceOf(0, rows.length, reply.text),
            ...(isVllm && { prompt_token_ids: prompt }),
            ...(isVllm && scored !== undefined && { prompt_logprobs: promptLogprobs(prompt, reply) }),
          },
        ],
        usage,
      },
    }
  const texts = await Promise.all(rows.map(([, id]) => decode([id], false)))
  const events = [
    ...texts.map((text, index) => ({ choices: [choiceOf(index, index + 1, text)] })),
    { choices: [], usage },
  ]
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`)
  return { type: 'text/event-stream; charset=utf-8', text: `${lines.join('')}data: [DONE]\n\n` }
}

const promptLogprobs = (prompt: readonly number[], { meta_info: meta }: Reply): readonly (object | null)[] =>
  prompt.map((id, index) => {
    const logprob = meta.input_token_logprobs?.[index]?.[0] ?? null
    if (logprob === null) return null
    const alternatives = meta.input_top_logprobs?.[index] ?? []
    return Object.fromEntries(
      [...alternatives, [logprob, id] as const].map(([value, key]) => [key, { logprob: value }]),
    )
  })

async function chat(body: Record<string, unknown>): Promise<Answer> {
  const { choices, usage } = await ofBuiltIn<{
    readonly choices: readonly Record<string, unknown>[]
    readonly usage: object
  }>('/v1/chat/completions', { ...body, return_token_ids: true })
  const [{ prompt_token_ids: promptIds, response_token_ids: ids, message, ...choice } = {}] = choices
  const { reasoning_content: reasoning, ...others } = message as Record<string, unknown>
  return {
    json: {
      choices: [{ ...choice, message: { ...others, reasoning }, token_ids: ids }],
      prompt_token_ids: promptIds,
      usage,
    },
  }
}

/**
 * A server that answers as SGLang 0.5.23 does for a model that reads images. It has no model: it repeats the placeholder of
 * each image as often as the image has positions, and writes scripted replies.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { readDataUrl } from '#lib/trajectory/images/data-url.ts'
import type { ImageHeader } from '#lib/trajectory/images/image-header.ts'
import { closeServer, listeningUrl } from '../listening.ts'

/** Fields of a request that the server reads. */
interface VisionRequest {
  readonly rid: string
  readonly input_ids: readonly number[]
  readonly image_data?: readonly string[]
  readonly return_prompt_token_ids?: boolean
  readonly logprob_start_len?: number
  readonly top_logprobs_num?: number
  readonly stream: boolean
  readonly sampling_params: Readonly<Record<string, unknown>>
}

/** Script of the server. */
export interface VisionServerOptions {
  readonly placeholderId: number
  /** Ids of the replies in order; the last one is repeated. Each ends with the token that ends a turn. */
  readonly replies: readonly (readonly number[])[]
  readonly textOf: (ids: readonly number[]) => string
  /** Returns the number of positions of an image. */
  readonly positionsOf: (image: ImageHeader) => number
  readonly tokenizerPath?: string
  /** Encodes the text of a prompt with images again, as versions before 0.5.17 do. */
  readonly encodesAgain?: (ids: readonly number[]) => readonly number[]
  /** False for a version that does not report which ids it read. */
  readonly reportsIds?: boolean
  /** False if the model reads only text. */
  readonly hasVision?: boolean
  /** Tokens of a prompt and its reply; more are refused. Omitted: 32,768, and none is refused. */
  readonly contextLength?: number
  readonly port?: number
}

/** A running server. */
export interface VisionServer {
  readonly baseUrl: string
  /** Requests that sampled or scored, in order. */
  readonly requests: readonly VisionRequest[]
  close(): Promise<void>
}

/** Starts the server. */
export async function startVisionServer(options: VisionServerOptions): Promise<VisionServer> {
  const requests: VisionRequest[] = []
  const server = createServer(async (request, response) => {
    const send = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (request.method === 'GET') {
      if (pathname === '/health') return send(200, {})
      const info = infoOf(pathname, options)
      return info ? send(200, info) : send(404, { detail: 'Not Found' })
    }
    if (pathname !== '/generate') return send(404, { detail: 'Not Found' })
    const visionRequest = (await bodyOf(request)) as VisionRequest
    const read = expand(visionRequest, options)
    const refusal = typeof read === 'string' ? read : refusalOf(read.length, visionRequest, options)
    if (typeof read === 'string' || refusal !== undefined) return send(400, { error: { message: refusal } })
    const samples = requests.filter(({ sampling_params: { max_new_tokens: most } }) => most !== 0).length
    requests.push(visionRequest)
    const reply = replyOf(
      visionRequest,
      read,
      visionRequest.sampling_params.max_new_tokens === 0 ? [] : scripted(options, samples),
      options,
    )
    if (!visionRequest.stream) return send(200, reply)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`data: ${JSON.stringify(reply)}\n\ndata: [DONE]\n\n`)
  })
  return {
    baseUrl: await listeningUrl(server, options.port),
    requests,
    close: () => closeServer(server),
  }
}

const scripted = ({ replies }: VisionServerOptions, index: number): readonly number[] =>
  replies[index] ?? replies.at(-1) ?? []

function infoOf(
  pathname: string,
  { tokenizerPath = 'vision', hasVision = true, contextLength = 32_768 }: VisionServerOptions,
): object | undefined {
  switch (pathname) {
    case '/model_info':
      return {
        model_path: 'vision',
        served_model_name: 'vision',
        tokenizer_path: tokenizerPath,
        is_generation: true,
        weight_version: 'default',
        has_image_understanding: hasVision,
        model_type: 'qwen2_vl',
      }
    case '/server_info':
      return { version: '0.5.23', context_length: contextLength, incremental_streaming_output: false }
    default:
      return undefined
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return JSON.parse(Buffer.concat(parts).toString('utf8'))
}

/** Returns the ids that the model reads, or why SGLang would refuse them. */
function expand(
  { input_ids: ids, image_data: images = [] }: VisionRequest,
  { placeholderId, positionsOf, encodesAgain = (same) => same }: VisionServerOptions,
): readonly number[] | string {
  if (images.length === 0) return ids
  const placeholders = ids.filter((id) => id === placeholderId).length
  if (placeholders !== images.length)
    return `Prompt has ${placeholders} image placeholders but ${images.length} image inputs were provided`
  const positions = images.map((url) => {
    const image = readDataUrl(url)
    return image.ok ? positionsOf(image.header) : 0
  })
  let next = 0
  return encodesAgain(ids).flatMap((id) =>
    id === placeholderId ? Array.from({ length: positions[next++] ?? 0 }, () => id) : [id],
  )
}

/** Returns why SGLang refuses a call that may become longer than the context; undefined if it does not. */
function refusalOf(
  read: number,
  { sampling_params: { max_new_tokens: most } }: VisionRequest,
  { contextLength = Infinity }: VisionServerOptions,
): string | undefined {
  const total = read + Number(most)
  return total > contextLength
    ? `Requested token count exceeds the model's maximum context length of ${contextLength} tokens. You requested a total of ${total} tokens: ${read} tokens from the input messages and ${most} tokens for the completion.`
    : undefined
}

function replyOf(
  asked: VisionRequest,
  read: readonly number[],
  output: readonly number[],
  { placeholderId, textOf, reportsIds = true }: VisionServerOptions,
): object {
  const start = asked.logprob_start_len
  const top = asked.top_logprobs_num ?? 0
  const positions = start === undefined ? [] : read.map((_, index) => index).slice(start)
  // SGLang writes 0 for the ids of image positions, whose logprobs mean nothing.
  const scored = (index: number) => (read[index] === placeholderId ? 0 : read[index])
  const logprobAt = (index: number) => (index === start ? null : -index / 100)
  return {
    text: textOf(output),
    output_ids: output,
    ...(asked.return_prompt_token_ids && reportsIds && { prompt_token_ids: read }),
    meta_info: {
      id: asked.rid,
      finish_reason: output.length > 0 ? { type: 'stop', matched: output.at(-1) } : { type: 'length', length: 0 },
      prompt_tokens: read.length,
      weight_version: 'default',
      ...(start !== undefined && {
        input_token_logprobs: positions.map((index) => [logprobAt(index), scored(index), null]),
        ...(top > 0 && {
          input_top_logprobs: positions.map((index) =>
            index === start
              ? null
              : Array.from({ length: top }, (_, rank) => [-index / 100 - rank, scored(index), null]),
          ),
        }),
      }),
      output_token_logprobs: output.map((id, index) => [-(index + 1) / 10, id, null]),
      ...(top > 0 && {
        output_top_logprobs: output.map((id, index) =>
          Array.from({ length: top }, (_, rank) => [-(index + 1) / 10 - rank, id, null]),
        ),
      }),
      completion_tokens: output.length,
      cached_tokens: 0,
      e2e_latency: 0.1,
    },
  }
}

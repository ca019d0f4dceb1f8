/** The built-in server with scripted replies: each call to /generate is answered with the next text. */
import { createServer } from 'node:http'
import { closeServer, listeningUrl } from '#testing/listening.ts'
import { APPLICATION_URL } from './application.ts'

/** A running server and its script. */
export interface ScriptedServer {
  readonly baseUrl: string
  /** Replies that are not sent so far, in order. */
  readonly texts: string[]
  close(): Promise<void>
}

/** Starts the server. Without a scripted reply, calls are passed to the built-in server. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const texts: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const generate = request.url === '/generate' ? (JSON.parse(body) as GenerateBody) : undefined
    // The real model answers requests that only score a prompt.
    const isSaid = generate !== undefined && generate.sampling_params.max_new_tokens > 0 && texts.length > 0
    const answer = isSaid
      ? await answerText(texts.shift() ?? '', generate)
      : await passedOn(request.method ?? 'GET', request.url ?? '/', body)
    response.writeHead(answer.status, { 'content-type': answer.type })
    response.end(answer.body)
  })
  return {
    baseUrl: await listeningUrl(server),
    texts,
    close: () => closeServer(server),
  }
}

interface GenerateBody {
  readonly input_ids: readonly number[]
  readonly sampling_params: { readonly max_new_tokens: number }
  readonly rid: string
  readonly stream?: boolean
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

const JSON_TYPE = 'application/json'
const END = '<|im_end|>'

async function answerText(text: string, request: GenerateBody): Promise<Answer> {
  const encoded = await passedOn(
    'POST',
    '/v1/tokenize',
    JSON.stringify({ prompt: text + END, add_special_tokens: false }),
  )
  const { tokens } = JSON.parse(encoded.body) as { readonly tokens: readonly number[] }
  const reply = JSON.stringify({
    text: text + END,
    output_ids: tokens,
    meta_info: {
      id: request.rid,
      finish_reason: { type: 'stop', matched: tokens.at(-1) },
      prompt_tokens: request.input_ids.length,
      completion_tokens: tokens.length,
      output_token_logprobs: tokens.map((id) => [-0.25, id, null]),
      output_token_logprobs_length: tokens.length,
    },
  })
  return request.stream
    ? { status: 200, type: 'text/event-stream', body: `data: ${reply}\n\ndata: [DONE]\n\n` }
    : { status: 200, type: JSON_TYPE, body: reply }
}

async function passedOn(method: string, path: string, body: string): Promise<Answer> {
  const answer = await fetch(`${APPLICATION_URL}/sglang${path}`, {
    method,
    headers: { 'content-type': JSON_TYPE },
    ...(body !== '' && { body }),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    type: answer.headers.get('content-type') ?? JSON_TYPE,
    // The tokenizer's path is a name that this machine can load, as a remote server would report it.
    body: path === '/model_info' ? JSON.stringify({ ...JSON.parse(text), tokenizer_path: 'built-in' }) : text,
  }
}

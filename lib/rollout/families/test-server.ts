/** A scripted /generate of SGLang: replies end at the stop ids, and the text is trimmed as SGLang trims it. */
import { createServer, type ServerResponse } from 'node:http'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { closeServer, listeningUrl } from '#testing/listening.ts'

/** A server on 127.0.0.1 that answers /generate with scripted texts. */
export interface ScriptedGenerateServer {
  readonly baseUrl: string
  /** The `input_ids` of the requests since `play`. */
  readonly requests: readonly (readonly number[])[]
  /** Answers the next requests with these texts; each must contain a stop token. */
  play(replies: readonly string[], tokenizer: Tokenizer, stopIds: readonly number[]): void
  close(): Promise<void>
}

interface Body {
  readonly rid: string
  readonly input_ids: readonly number[]
  readonly stream: boolean
  readonly logprob_start_len?: number
  readonly sampling_params: {
    readonly max_new_tokens: number
    readonly stop_token_ids?: readonly number[]
    readonly no_stop_trim?: boolean
    readonly skip_special_tokens?: boolean
  }
}

/** Starts the server on a free port. It answers with status 500 when no reply is left. */
export async function startScriptedGenerateServer(): Promise<ScriptedGenerateServer> {
  let requests: (readonly number[])[] = []
  let answer = (_: Body): readonly number[] | undefined => undefined
  let spell = (_: readonly number[], __: Body): string => ''
  const http = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body: Body = JSON.parse(Buffer.concat(parts).toString())
    const output = answer(body)
    if (output) reply(response, body, output, spell)
    else response.writeHead(500).end('the script has no more replies')
  })
  return {
    baseUrl: await listeningUrl(http),
    get requests() {
      return requests
    },
    play(replies, tokenizer, stopIds) {
      requests = []
      const left = [...replies]
      spell = (ids, { sampling_params: { no_stop_trim, skip_special_tokens = true } }) => {
        const outputIds = no_stop_trim ? ids : ids.slice(0, -1)
        const skipped = new Set(tokenizer.addedTokens.filter(({ special }) => special).map(({ id }) => id))
        const textIds = skip_special_tokens ? outputIds.filter((id) => !skipped.has(id)) : outputIds
        return new TextDecoder().decode(Uint8Array.from(textIds.flatMap((id) => Array.from(tokenizer.bytes(id)))))
      }
      answer = (body) => {
        requests.push(body.input_ids)
        const text = left.shift()
        if (text === undefined) return undefined
        const ids = tokenizer.encode(text)
        const end = ids.findIndex((id) => [...stopIds, ...(body.sampling_params.stop_token_ids ?? [])].includes(id))
        return end < 0 ? undefined : ids.slice(0, end + 1)
      }
    },
    close: () => closeServer(http),
  }
}

/** Sends a stream of two chunks; each contains all tokens so far. */
function reply(
  response: ServerResponse,
  body: Body,
  output: readonly number[],
  spell: (ids: readonly number[], body: Body) => string,
): void {
  const chunk = (length: number) => {
    const ids = output.slice(0, length)
    const isWhole = length === output.length
    const start = body.logprob_start_len ?? body.input_ids.length
    return JSON.stringify({
      // Only the end of a text can be trimmed.
      text: isWhole ? spell(ids, body) : spell([...ids, -1], body).replace(/\uFFFD+$/, ''),
      output_ids: ids,
      meta_info: {
        id: body.rid,
        finish_reason: isWhole ? { type: 'stop', matched: output.at(-1) } : null,
        prompt_tokens: body.input_ids.length,
        completion_tokens: length,
        cached_tokens: 0,
        input_token_logprobs: body.input_ids.slice(start).map((id, index) => [index === 0 ? null : -0.25, id, null]),
        output_token_logprobs: ids.map((id) => [-0.5, id, null]),
        output_token_logprobs_length: length,
      },
    })
  }
  if (!body.stream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(chunk(output.length))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const length of output.length > 1 ? [1, output.length] : [output.length])
    response.write(`data: ${chunk(length)}\n\n`)
  response.end('data: [DONE]\n\n')
}

/**
 * An SGLang server for runs that are killed. It streams token by token: each reply is a tool call until the prompt has as
 * many results as its question requests, then an answer. A question that contains "python" gets a call that never ends.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'

/** The running server. */
export interface Upstream {
  readonly baseUrl: string
  close(): void
}

interface Asked {
  readonly rid: string
  readonly input_ids: readonly number[]
}

const MS_A_TOKEN = 5

const toolCall = (name: string, values: object): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: values })}\n</tool_call>`

/** Starts the server on a free port. */
export async function startUpstream(): Promise<Upstream> {
  const { tokenizer } = await createTokenizerLoader({
    builtIn: { 'built-in': path.resolve(import.meta.dirname, '../../models/tiny-qwen3') },
    folders: [],
    hub: { url: undefined, token: undefined, cacheFolder: undefined, cachedOnly: true },
  }).load('built-in')
  const idsOf = (content: string) => [...tokenizer.encode(content)]
  const end = tokenizer.addedTokens.find(({ content }) => content === '<|im_end|>')?.id
  if (end === undefined) throw new Error('the tokenizer has no <|im_end|>')
  const textOf = (ids: readonly number[]) =>
    new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => Array.from(tokenizer.bytes(id)))))

  const replyTo = ({ input_ids: sent }: Asked): string => {
    const prompt = textOf(sent)
    if (prompt.includes('python')) return toolCall('python', { code: 'print(1)\nsum(range(10**15))' })
    const wanted = Number(/steps: (\d)/.exec(prompt)?.[1] ?? 0)
    const results = prompt.split('<tool_response>').length - 1
    return results < wanted ? toolCall('calculator', { expression: `${results} + 1` }) : 'That is the result.'
  }

  const server = createServer(async (request, response) => {
    const json = (status: number, value: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (request.url !== '/generate') {
      const facts = FACTS[request.url ?? '']
      json(facts ? 200 : 404, facts ?? { error: 'there is no such path' })
      return
    }
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const asked: Asked = JSON.parse(Buffer.concat(parts).toString('utf8'))
    const ids = [...idsOf(replyTo(asked)), end]
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let count = 1; count <= ids.length && !response.destroyed; count++) {
      response.write(`data: ${JSON.stringify(chunk(asked, ids, count, textOf))}\n\n`)
      await delay(MS_A_TOKEN)
    }
    response.end('data: [DONE]\n\n')
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function chunk(
  { rid, input_ids: sent }: Asked,
  all: readonly number[],
  count: number,
  textOf: (ids: readonly number[]) => string,
): object {
  const ids = all.slice(0, count)
  return {
    text: textOf(ids),
    output_ids: ids,
    meta_info: {
      id: rid,
      finish_reason: count === all.length ? { type: 'stop', matched: all.at(-1) } : null,
      prompt_tokens: sent.length,
      completion_tokens: count,
      output_token_logprobs: ids.map((id) => [-0.25, id, null]),
      output_token_logprobs_length: count,
    },
  }
}

const FACTS: Readonly<Record<string, object>> = {
  '/health': {},
  '/model_info': { model_path: 'scripted', tokenizer_path: 'built-in', weight_version: 'default' },
  '/server_info': { version: '0.5.23', context_length: 131072 },
  '/v1/models': { data: [{ id: 'scripted', max_model_len: 131072 }] },
}

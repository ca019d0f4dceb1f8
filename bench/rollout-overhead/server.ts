/**
 * A mock of SGLang's /generate in its own process: `node server.ts TURNS TOKENS ALTERNATIVES` prints its address. A reply
 * depends only on its request. Replies are prepared in advance, so that the server costs little compared with the client.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { randomNumbers } from '#testing/random-numbers.ts'
import { excerpt, PAGES, TOKENIZER_FOLDER, TOOL } from './workload.ts'

const [TURNS = 4, TOKENS = 256, ALTERNATIVES = 0] = process.argv.slice(2).map(Number)
const VARIANTS = 16

const { tokenizer } = await createTokenizerLoader({
  builtIn: {},
  folders: [path.dirname(TOKENIZER_FOLDER)],
  hub: { url: undefined, token: undefined, cacheFolder: undefined, cachedOnly: true },
}).load(TOKENIZER_FOLDER)
const idOf = (content: string): number => {
  const found = tokenizer.addedTokens.find((token) => token.content === content)
  if (!found) throw new Error(`the tokenizer has no token ${content}`)
  return found.id
}
const END_OF_TURN = idOf('<|im_end|>')
const RESULT = idOf('<tool_response>')

/** Alternatives are tokens that are as common as those of any text. */
const common = tokenizer.encode(excerpt(0, 20_000))
const anyId = (next: () => number): number => common[Math.floor(next() * common.length)] as number

/** Formats a float32 as SGLang prints it. */
const logprob = (next: () => number): string => String(Math.fround(-8 * next() ** 4 - 1e-6))

interface Written {
  readonly text: string
  readonly ids: string
  readonly columns: string
}

/**
 * Returns a reply that thinks in prose, then calls the tool or answers. It has TOKENS tokens, including the one that ends the
 * turn.
 */
function written(variant: number, isCall: boolean): Written {
  const next = randomNumbers(variant)
  const page = Math.floor(next() * PAGES)
  const end = isCall
    ? `\n</think>\n\n<tool_call>\n${JSON.stringify({ name: TOOL.name, arguments: { page } })}\n</tool_call>`
    : '\n</think>\n\nThat is what the manual says.'
  const head = tokenizer.encode('<think>\n')
  const tail = [...tokenizer.encode(end), END_OF_TURN]
  const prose = tokenizer.encode(excerpt(1000 + variant, 8 * TOKENS)).slice(0, TOKENS - head.length - tail.length)
  const ids = [...head, ...prose, ...tail]
  if (ids.length !== TOKENS) throw new Error(`a reply of ${ids.length} tokens`)
  const bytes = ids.slice(0, -1).flatMap((id) => Array.from(tokenizer.bytes(id)))
  const scores = ids.map((id) => `[${logprob(next)},${id},null]`)
  const alternatives = ids.map((id, index) => {
    const others = Array.from({ length: ALTERNATIVES - 1 }, () => `[${logprob(next)},${anyId(next)},null]`)
    return `[${[`${(scores[index] as string).split(',')[0]},${id},null]`, ...others].join(',')}]`
  })
  return {
    text: new TextDecoder().decode(Uint8Array.from(bytes)),
    ids: `[${ids.join(',')}]`,
    columns: `"output_token_logprobs":[${scores.join(',')}]${ALTERNATIVES > 0 ? `,"output_top_logprobs":[${alternatives.join(',')}]` : ''}`,
  }
}

const calls = Array.from({ length: VARIANTS }, (_, variant) => prepared(written(variant, true)))
const answers = Array.from({ length: VARIANTS }, (_, variant) => prepared(written(variant, false)))

/** The parts of a reply that do not depend on the request. */
function prepared({ text, ids, columns }: Written) {
  return {
    trimmed: JSON.stringify(text),
    whole: JSON.stringify(`${text}<|im_end|>`),
    ids,
    columns: `"completion_tokens":${TOKENS},${columns}`,
  }
}

interface Asked {
  readonly input_ids: readonly number[]
  readonly logprob_start_len: number
  readonly top_logprobs_num?: number
  readonly sampling_params: { readonly no_stop_trim?: boolean }
}

function reply({ input_ids: sent, logprob_start_len: start, top_logprobs_num: k = 0, sampling_params }: Asked): string {
  if (k !== ALTERNATIVES) throw new Error(`${k} alternatives were asked for, and ${ALTERNATIVES} are written`)
  let turn = 0
  let sum = 0
  for (let index = 0; index < sent.length; index++) {
    if (sent[index] === RESULT) turn++
    if (index < 600) sum += sent[index] as number
  }
  const chosen = (turn < TURNS - 1 ? calls : answers)[(sum + turn) % VARIANTS]
  if (!chosen) throw new Error('no such variant')
  const next = randomNumbers(sent.length)
  const read = sent.slice(start).map((id, index) => `[${index === 0 ? null : logprob(next)},${id},null]`)
  const tops = sent.slice(start).map((id, index) => (index === 0 ? 'null' : alternativesOf(id, next)))
  return `{"text":${sampling_params.no_stop_trim ? chosen.whole : chosen.trimmed},"output_ids":${chosen.ids},"meta_info":{"id":"r","finish_reason":{"type":"stop","matched":${END_OF_TURN}},"prompt_tokens":${sent.length},"weight_version":"default","num_retractions":0,"reasoning_tokens":0,"input_token_logprobs":[${read.join(',')}],${k > 0 ? `"input_top_logprobs":[${tops.join(',')}],` : ''}${chosen.columns},"cached_tokens":${start},"weight_versions":[{"version":"default","start":0,"end":${TOKENS}}],"cached_tokens_details":{"device":${start},"host":0},"dp_rank":null,"e2e_latency":0.25}}`
}

const alternativesOf = (id: number, next: () => number): string =>
  `[${Array.from({ length: ALTERNATIVES }, (_, column) => `[${logprob(next)},${column === 0 ? id : anyId(next)},null]`).join(',')}]`

const FACTS: Readonly<Record<string, unknown>> = {
  '/model_info': {
    model_path: 'mock',
    tokenizer_path: TOKENIZER_FOLDER,
    has_image_understanding: false,
    weight_version: 'default',
  },
  '/server_info': { version: '0.5.23', context_length: 131072 },
  '/v1/models': { data: [{ id: 'mock', max_model_len: 131072 }] },
}

const http = createServer((request, response) => {
  const json = (status: number, body: string) => {
    const bytes = Buffer.from(body)
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes)
  }
  if (request.method === 'GET') {
    const facts = FACTS[request.url ?? '']
    json(facts === undefined ? 404 : 200, JSON.stringify(facts ?? { error: 'there is no such path' }))
    return
  }
  const parts: Buffer[] = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    json(200, reply(JSON.parse(Buffer.concat(parts).toString())))
  })
})
// Connections stay open, because a client that measures itself may be slow.
http.keepAliveTimeout = 600_000
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}`))

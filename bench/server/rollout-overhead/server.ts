/**
 * A mock of SGLang's /generate in its own process: `node server.ts TURNS TOKENS ALTERNATIVES [STREAMING [REPLY_MS]]` prints its address. A
 * reply depends only on its request. Replies are prepared in advance, so that the server costs little compared with the client. A reply
 * takes REPLY_MS milliseconds, of which a stream uses equal parts for its chunks; without REPLY_MS it is sent at once.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { manualText, PACKED_FOLDER, PAGE_COUNT, TOKENIZER_FOLDER, TOOL } from './workload.ts'

const [TURNS = 4, TOKENS = 256, ALTERNATIVES = 0] = process.argv.slice(2, 5).map(Number)
const IS_INCREMENTAL = process.argv[5] === 'incremental'
const REPLY_MS = Number(process.argv[6] ?? 0)
const VARIANTS = 16

const { tokenizer } = await createTokenizerLoader({
  builtIn: {},
  folders: [path.dirname(TOKENIZER_FOLDER)],
  hub: { url: undefined, token: undefined, cacheFolder: undefined, cachedOnly: true },
  packedFolder: PACKED_FOLDER,
}).load(TOKENIZER_FOLDER)
const idOf = (content: string): number => {
  const found = tokenizer.addedTokens.find((token) => token.content === content)
  if (!found) throw new Error(`the tokenizer has no token ${content}`)
  return found.id
}
const END_OF_TURN = idOf('<|im_end|>')
const RESULT = idOf('<tool_response>')

/** Alternatives are tokens that are as common as those of any text. */
const common = tokenizer.encode(manualText(0, 20_000))
const anyId = (next: () => number): number => common[Math.floor(next() * common.length)] as number

/** Formats a float32 as SGLang prints it. */
const logprob = (next: () => number): string => String(Math.fround(-8 * next() ** 4 - 1e-6))

interface Written {
  readonly pieces: readonly string[]
  readonly ids: readonly number[]
  /** Each row as JSON. */
  readonly scores: readonly string[]
  readonly alternatives: readonly string[]
}

/**
 * Returns a reply that thinks in prose, then calls the tool or answers. It has TOKENS tokens, including the one that ends the
 * turn.
 */
function writeReply(variant: number, isCall: boolean): Written {
  const next = randomNumbers(variant)
  const page = Math.floor(next() * PAGE_COUNT)
  const end = isCall
    ? `\n</think>\n\n<tool_call>\n${JSON.stringify({ name: TOOL.name, arguments: { page } })}\n</tool_call>`
    : '\n</think>\n\nThat is what the manual says.'
  const head = tokenizer.encode('<think>\n')
  const tail = [...tokenizer.encode(end), END_OF_TURN]
  const prose = tokenizer.encode(manualText(1000 + variant, 8 * TOKENS)).slice(0, TOKENS - head.length - tail.length)
  const ids = [...head, ...prose, ...tail]
  if (ids.length !== TOKENS) throw new Error(`a reply of ${ids.length} tokens`)
  const scores = ids.map((id) => `[${logprob(next)},${id},null]`)
  const alternatives = ids.map((id, index) => {
    const others = Array.from({ length: ALTERNATIVES - 1 }, () => `[${logprob(next)},${anyId(next)},null]`)
    return `[${[`${(scores[index] as string).split(',')[0]},${id},null]`, ...others].join(',')}]`
  })
  const decoder = new TextDecoder()
  return { pieces: ids.map((id) => decoder.decode(tokenizer.bytes(id))), ids, scores, alternatives }
}

const calls = Array.from({ length: VARIANTS }, (_, variant) => prepareReply(writeReply(variant, true)))
const answers = Array.from({ length: VARIANTS }, (_, variant) => prepareReply(writeReply(variant, false)))

/** The parts of a reply that do not depend on the request. */
function prepareReply(reply: Written) {
  const text = reply.pieces.slice(0, -1).join('')
  const known = new Map<number, readonly string[]>()
  return {
    trimmed: JSON.stringify(text),
    whole: JSON.stringify(`${text}${reply.pieces.at(-1)}`),
    ids: JSON.stringify(reply.ids),
    columns: `"completion_tokens":${TOKENS},${columnsOf(reply, 0, TOKENS)}`,
    /** Returns the text, the ids and the columns of each chunk with this many tokens in a step. */
    chunks(step: number): readonly string[] {
      const chunks = known.get(step) ?? chunksOf(reply, step)
      known.set(step, chunks)
      return chunks
    },
  }
}

/** Returns rows of a reply as JSON. It is a declaration because replies are prepared before this line. */
function columnsOf({ scores, alternatives }: Written, from: number, to: number): string {
  const top = ALTERNATIVES > 0 ? `,"output_top_logprobs":[${alternatives.slice(from, to).join(',')}]` : ''
  return `"output_token_logprobs":[${scores.slice(from, to).join(',')}]${top}`
}

/** Returns the chunks of a stream: the first has one token, and the last ends the reply. */
function chunksOf(reply: Written, step: number): readonly string[] {
  const ends = [1]
  for (let end = step; end < TOKENS; end += step) if (end > 1) ends.push(end)
  ends.push(TOKENS)
  return ends.map((end, index) => {
    const from = IS_INCREMENTAL ? (ends[index - 1] ?? 0) : 0
    const finish = end === TOKENS ? `{"type":"stop","matched":${END_OF_TURN}}` : 'null'
    return `"text":${JSON.stringify(reply.pieces.slice(from, end).join(''))},"output_ids":${JSON.stringify(reply.ids.slice(from, end))},"meta_info":{"id":"r","finish_reason":${finish},"completion_tokens":${end},"output_token_logprobs_length":${end},${columnsOf(reply, from, end)},`
  })
}

interface Asked {
  readonly input_ids: readonly number[]
  readonly logprob_start_len?: number
  readonly top_logprobs_num?: number
  readonly sampling_params: {
    readonly no_stop_trim?: boolean
    readonly max_new_tokens: number
    readonly stream_interval?: number
  }
  readonly stream?: boolean
}

/** Returns the body of a whole reply. */
function reply(request: Asked): string {
  const { input_ids: sent, logprob_start_len: start = sent.length, top_logprobs_num: k = 0, sampling_params } = request
  const chosen = chosenReply(request)
  const next = randomNumbers(sent.length)
  const read = sent.slice(start).map((id, index) => `[${index === 0 ? null : logprob(next)},${id},null]`)
  const tops = sent.slice(start).map((id, index) => (index === 0 ? 'null' : alternativesOf(id, next)))
  const scored = `"prompt_tokens":${sent.length},"cached_tokens":${start},"input_token_logprobs":[${read.join(',')}]${k > 0 ? `,"input_top_logprobs":[${tops.join(',')}]` : ''}`
  if (sampling_params.max_new_tokens === 0)
    return `{"text":"","output_ids":[],"meta_info":{"id":"r","finish_reason":{"type":"length","length":0},"completion_tokens":0,"output_token_logprobs":[],"e2e_latency":0.05,${scored}}}`
  return `{"text":${sampling_params.no_stop_trim ? chosen.whole : chosen.trimmed},"output_ids":${chosen.ids},"meta_info":{"id":"r","finish_reason":{"type":"stop","matched":${END_OF_TURN}},"weight_version":"default","num_retractions":0,"reasoning_tokens":0,${scored},${chosen.columns},"weight_versions":[{"version":"default","start":0,"end":${TOKENS}}],"cached_tokens_details":{"device":${start},"host":0},"dp_rank":null,"e2e_latency":0.25}}`
}

/** Returns the events of a streamed reply, without the prompt's logprobs, which a call before it has fetched. */
function events(request: Asked): readonly string[] {
  const chunks = chosenReply(request).chunks(request.sampling_params.stream_interval ?? 1)
  const rest = `"prompt_tokens":${request.input_ids.length},"cached_tokens":0,"weight_version":"default","e2e_latency":0.25}}`
  return [...chunks.map((chunk) => `data: {${chunk}${rest}\n\n`), 'data: [DONE]\n\n']
}

/** Sends the events of a stream, the last one REPLY_MS after the request. */
async function sendEvents(response: ServerResponse, all: readonly string[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (REPLY_MS === 0) {
    response.end(all.join(''))
    return
  }
  const start = performance.now()
  for (const [index, event] of all.entries()) {
    await pause(Math.max(0, start + (REPLY_MS * (index + 1)) / all.length - performance.now()))
    if (response.destroyed) return
    response.write(event)
  }
  response.end()
}

function chosenReply({ input_ids: sent, top_logprobs_num: k = 0 }: Asked) {
  if (k !== ALTERNATIVES) throw new Error(`${k} alternatives were asked for, and ${ALTERNATIVES} are written`)
  let turn = 0
  let sum = 0
  for (let index = 0; index < sent.length; index++) {
    if (sent[index] === RESULT) turn++
    if (index < 600) sum += sent[index] as number
  }
  const chosen = (turn < TURNS - 1 ? calls : answers)[(sum + turn) % VARIANTS]
  if (!chosen) throw new Error('no such variant')
  return chosen
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
  '/server_info': { version: '0.5.23', context_length: 131072, incremental_streaming_output: IS_INCREMENTAL },
  '/v1/models': { data: [{ id: 'mock', max_model_len: 131072 }] },
}

const http = createServer((request, response) => {
  const json = (status: number, body: string) => {
    const bytes = Buffer.from(body)
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes)
  }
  if (request.url !== '/generate') {
    const facts = FACTS[request.url ?? '']
    json(facts === undefined ? 404 : 200, JSON.stringify(facts ?? { error: 'there is no such path' }))
    return
  }
  const parts: Buffer[] = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    const asked: Asked = JSON.parse(Buffer.concat(parts).toString())
    if (asked.stream) sendEvents(response, events(asked)).catch((error: unknown) => response.destroy(error as Error))
    else if (REPLY_MS === 0) json(200, reply(asked))
    else setTimeout(() => json(200, reply(asked)), REPLY_MS)
  })
})
// Connections stay open, because a client that measures itself may be slow.
http.keepAliveTimeout = 600_000
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}`))

/**
 * Compares the built-in server with `generate()` of transformers.js on the shipped model: tokens per second with sampling,
 * for one request, whole and streamed, and for 8 and 32 at once; the time to the first token with and without a cached prefix;
 * and the latency of the application's own requests meanwhile.
 *
 * Ours is called over HTTP through the whole application, with logprobs. transformers.js runs in this process without logprobs,
 * which it does not support; beside a streamed request it streams the text with its TextStreamer. Both sample at temperature 1
 * from the best 50 tokens, with prompts of different lengths, and caches are cleared before. Rounds alternate; ratios are
 * medians over ratios of one round.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { AutoModelForCausalLM, AutoTokenizer, env, Tensor, TextStreamer } from '@huggingface/transformers'
import { createParser } from 'eventsource-parser'
import { request } from 'undici'
import { AUTHORIZED, startApplication, stopApplication } from '../../e2e/support/application.ts'
import { buildWhenNeeded } from '../../scripts/build.ts'
import { median, percentile, reportFigure } from '../support/figures.ts'

const ROUNDS = 7
/** One request takes less than a tenth of a second, so that seven rounds would depend on single collections of garbage. */
const ROUNDS_OF_ONE = 41
const NEW_TOKENS = 128
const TOGETHER = 8
/** The default of transformers.js: without it, it sorts the vocabulary for every token and is half as fast. */
const TOP_K = 50
/** Tokens of a first turn, of its reply, and of the addition of the second turn: a tool's result and the next question. */
const FIRST_TURN = 400
const REPLY = 20
const ADDED = 30
const FIRST_TOKENS = 31
const OWN_REQUESTS = 60

/** Requests at once, and how each reply is received. The server computes eight at once; the others wait. */
const CASES = [
  { what: '1 request', count: 1, streams: false, atLeast: 1.5 },
  // Engine, server and client are three threads on two cores, and generate() is one: the ratio depends on where they run.
  { what: '1 streamed request', count: 1, streams: true, atLeast: 1.25 },
  { what: '8 at once', count: TOGETHER, streams: false, atLeast: 1.5 },
  { what: '32 at once', count: 32, streams: false, atLeast: 1.5 },
] as const

if (!(await buildWhenNeeded())) throw new Error('the application cannot be built')
const data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-bench-'))
const application = await startApplication(data)
const server = `${application.base}/sglang`
try {
  const theirs = await transformersModel()
  // These rounds warm up compilers and caches.
  for (let round = 0; round < 2; round++) {
    await oursAtOnce(promptsOf(TOGETHER), false)
    await theirs(promptsOf(TOGETHER), false)
  }
  for (const { what, count, streams, atLeast } of CASES) {
    const rounds: { readonly ours: number; readonly theirs: number }[] = []
    for (let round = 0; round < (count === 1 ? ROUNDS_OF_ONE : ROUNDS); round++) {
      await post('/flush_cache', {})
      const prompts = promptsOf(count)
      rounds.push({ ours: await oursAtOnce(prompts, streams), theirs: await theirs(prompts, streams) })
    }
    reportFigure(`${what}: tokens a second`, median(rounds.map((round) => round.ours)), '')
    reportFigure(`${what}: tokens a second, generate()`, median(rounds.map((round) => round.theirs)), '')
    const ratio = median(rounds.map((round) => round.ours / round.theirs))
    reportFigure(`${what}: beside generate()`, ratio, '×', { atLeast })
  }
  await firstTokens()
  await ownRequests()
} finally {
  await stopApplication(application, 'SIGTERM')
  rmSync(data, { recursive: true, force: true })
}

/** Returns ids of ordinary text tokens, a different sequence for every seed. */
function promptOf(length: number, seed: number): number[] {
  return Array.from({ length }, (_, index) => 10 + ((seed * 131 + index * (7 + 2 * seed)) % 1000))
}

/** Returns prompts of 40 to 150 tokens, like questions with one or two tool descriptions. */
function promptsOf(count: number): number[][] {
  return Array.from({ length: count }, (_, index) => promptOf(40 + ((index * 37) % 111), index))
}

async function post(pathname: string, body: object): Promise<Response> {
  const response = await fetch(`${server}${pathname}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${pathname}: ${response.status} ${await response.text()}`)
  return response
}

/** Returns tokens per second of separate requests that are sent at the same time. */
async function oursAtOnce(prompts: readonly (readonly number[])[], streams: boolean): Promise<number> {
  const reply = streams ? streamedReplyTo : replyTo
  const start = performance.now()
  const replies = await Promise.all(prompts.map((prompt) => reply(prompt, NEW_TOKENS)))
  const seconds = (performance.now() - start) / 1000
  for (const { length } of replies) if (length !== NEW_TOKENS) throw new Error(`the server wrote ${length} tokens`)
  return (prompts.length * NEW_TOKENS) / seconds
}

async function replyTo(input_ids: readonly number[], max_new_tokens: number): Promise<readonly number[]> {
  const sampling_params = { max_new_tokens, ignore_eos: true, top_k: TOP_K }
  const response = await post('/generate', { input_ids, sampling_params, return_logprob: true })
  const { output_ids } = (await response.json()) as { readonly output_ids: readonly number[] }
  return output_ids
}

/**
 * Returns the ids of a streamed reply, whose events contain the ids since the event before. It is read without web streams, because the
 * client runs on the same cores as the server, and generate() has none.
 */
async function streamedReplyTo(input_ids: readonly number[], max_new_tokens: number): Promise<readonly number[]> {
  const sampling_params = { max_new_tokens, ignore_eos: true, top_k: TOP_K }
  const { statusCode, body } = await request(`${server}/generate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input_ids, sampling_params, return_logprob: true, stream: true }),
  })
  if (statusCode !== 200) throw new Error(`/generate: ${statusCode} ${await body.text()}`)
  const ids: number[] = []
  const parser = createParser({
    onEvent({ data }) {
      if (data === '[DONE]') return
      const { output_ids } = JSON.parse(data) as { readonly output_ids: readonly number[] }
      ids.push(...output_ids)
    },
  })
  body.setEncoding('utf8')
  for await (const part of body) parser.feed(part)
  return ids
}

/** Returns a function that measures the same for one batch, padded on the left as transformers.js requires. Only a batch of one streams. */
async function transformersModel(): Promise<
  (prompts: readonly (readonly number[])[], streams: boolean) => Promise<number>
> {
  env.allowRemoteModels = false
  env.localModelPath = path.resolve('models')
  const model = await AutoModelForCausalLM.from_pretrained('tiny-qwen3', { dtype: 'fp32', device: 'cpu' })
  const tokenizer = await AutoTokenizer.from_pretrained('tiny-qwen3')
  return async (prompts, streams) => {
    const streamed: string[] = []
    const streamer = new TextStreamer(tokenizer, {
      skip_prompt: true,
      callback_function: (text: string) => streamed.push(text),
    })
    const length = Math.max(...prompts.map((prompt) => prompt.length))
    const padded = prompts.map((prompt) => [...Array<number>(length - prompt.length).fill(0), ...prompt])
    const mask = prompts.map((prompt) => Array.from({ length }, (_, index) => (index < length - prompt.length ? 0 : 1)))
    const tensor = (rows: readonly (readonly number[])[]) =>
      new Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.length, length])
    const start = performance.now()
    const output = await model.generate({
      inputs: tensor(padded),
      attention_mask: tensor(mask),
      do_sample: true,
      temperature: 1,
      top_k: TOP_K,
      max_new_tokens: NEW_TOKENS,
      // No token has this id, so every reply has its full length.
      eos_token_id: -1,
      ...(streams && { streamer }),
    })
    const seconds = (performance.now() - start) / 1000
    const written = ((output as Tensor).dims[1] as number) - length
    if (written !== NEW_TOKENS) throw new Error(`generate() wrote ${written} tokens`)
    if (streams && streamed.length === 0) throw new Error('generate() streamed no text')
    return (written * prompts.length) / seconds
  }
}

/**
 * Measures the time from the request of a second turn, streamed, to its first event. The last token of the first reply was
 * never computed, so it is not cached.
 */
async function firstTokens(): Promise<void> {
  const times: { readonly cached: number; readonly cold: number }[] = []
  for (let round = 0; round < FIRST_TOKENS; round++) {
    const first = promptOf(FIRST_TURN, round)
    await post('/flush_cache', {})
    const second = [...first, ...(await replyTo(first, REPLY)), ...promptOf(ADDED, round + 1)]
    const cached = await timeToFirst(second, FIRST_TURN + REPLY - 1)
    await post('/flush_cache', {})
    times.push({ cached, cold: await timeToFirst(second, 0) })
  }
  const length = FIRST_TURN + REPLY + ADDED
  reportFigure(`first token of ${length}, none cached`, median(times.map(({ cold }) => cold)), 'ms')
  reportFigure(
    `first token of ${length}, ${FIRST_TURN + REPLY - 1} cached`,
    median(times.map(({ cached }) => cached)),
    'ms',
  )
  const ratio = median(times.map(({ cold, cached }) => cold / cached))
  reportFigure('first token, none cached beside cached', ratio, '×', { atLeast: 3 })
}

async function timeToFirst(input_ids: readonly number[], cachedTokens: number): Promise<number> {
  const start = performance.now()
  const sampling_params = { max_new_tokens: 2, ignore_eos: true }
  const { body } = await post('/generate', { input_ids, sampling_params, return_logprob: true, stream: true })
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  const { value } = await reader.read()
  const time = performance.now() - start
  const text = new TextDecoder().decode(value)
  if (!text.includes(`"cached_tokens":${cachedTokens},`)) throw new Error(`not ${cachedTokens} cached: ${text}`)
  while (!(await reader.read()).done);
  return time
}

/** Measures requests while eight streams are read as in the playground. */
async function ownRequests(): Promise<void> {
  const stop = new AbortController()
  const streams = promptsOf(TOGETHER).map(async (input_ids) => {
    while (!stop.signal.aborted) {
      const sampling_params = { max_new_tokens: 1000, ignore_eos: true }
      const response = await post('/generate', { input_ids, sampling_params, return_logprob: true, stream: true })
      for await (const _part of response.body as ReadableStream<Uint8Array>) if (stop.signal.aborted) break
    }
  })
  for (const address of ['/api/health', '/api/trajectories', '/api/capabilities', '/']) {
    const rounds: number[] = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(percentile(await times(address), 0.95))
    // No limit applies to `/`, because it renders a whole page.
    const limit = address === '/' ? undefined : 20
    reportFigure(`GET ${address} during ${TOGETHER} streams, p95`, median(rounds), 'ms', limit)
  }
  stop.abort()
  await Promise.all(streams)
}

/** Returns the durations of requests with pauses of ten milliseconds, similar to those of a page. */
async function times(address: string): Promise<number[]> {
  const taken: number[] = []
  for (let request = 0; request < OWN_REQUESTS; request++) {
    const start = performance.now()
    const response = await fetch(`${application.base}${address}`, { headers: AUTHORIZED })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`${address}: ${response.status}`)
    taken.push(performance.now() - start)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return taken
}

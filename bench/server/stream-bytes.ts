/**
 * Measures the bytes of one reply on the network, whole and streamed: `node bench/server/stream-bytes.ts [reply tokens] [prompt
 * tokens]`. The client and the chunk sizes are the application's; a server in this process replies as SGLang does in both
 * modes.
 */
import { liveViewOf } from '#lib/api/engine/live-view.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import { type Manner, replyOf, startStreamServer, streamPrompt, VOCABULARY } from '#testing/sglang/stream-server.ts'
import { reportFigure } from '../support/figures.ts'

const [TOKENS = 8192, PROMPT = 3000] = process.argv.slice(2).map(Number)

for (const alternatives of [0, 5]) {
  const what = `${alternatives} alternatives`
  const whole = await bytesOf('cumulative', alternatives, undefined)
  reportFigure(`${what}, not streamed`, whole / 1e6, 'MB')
  for (const manner of ['incremental', 'cumulative'] as const) {
    const view = liveViewOf({ incrementalStreaming: manner === 'incremental' }, TOKENS, alternatives)
    if (!('tokensPerChunk' in view)) throw new Error('a server that tells how it streams can be watched')
    const chosen = await bytesOf(manner, alternatives, view.tokensPerChunk)
    reportFigure(`${what}, ${manner}, ${view.tokensPerChunk} tokens a chunk, beside whole`, chosen / whole, '×')
    const naive = naiveBytes(manner, alternatives) / whole
    console.log(`${what}, ${manner}, a chunk for each token: ${naive.toFixed(0)} × whole`)
  }
}

/** `step` is the number of tokens in a chunk. Undefined: the reply is fetched whole. */
async function bytesOf(manner: Manner, alternatives: number, step: number | undefined): Promise<number> {
  const server = await startStreamServer(manner)
  const client = createClient({ baseUrl: server.baseUrl, apiKey: undefined })
  const request = {
    inputIds: streamPrompt(PROMPT),
    sampling: { max_new_tokens: TOKENS },
    rid: 'r'.repeat(32),
    stream: step !== undefined,
    logprobStartLen: 0,
    topLogprobsNum: alternatives,
    vocabularySize: VOCABULARY,
    ...(step !== undefined && { streamInterval: step, scoringRid: 's'.repeat(32) }),
  }
  let tokens = 0
  for await (const chunk of client.generate(request, new AbortController().signal)) tokens += chunk.tokens.ids.length
  if (tokens !== TOKENS) throw new Error(`${tokens} tokens arrived`)
  await client.close()
  await server.close()
  return server.bytesSent()
}

/**
 * Returns the bytes for one token in each chunk, with the prompt's logprobs in each. They are computed from the middle chunk,
 * because the whole stream has gigabytes.
 */
function naiveBytes(manner: Manner, alternatives: number): number {
  const middle = Math.ceil(TOKENS / 2)
  const request = {
    rid: 'r'.repeat(32),
    input_ids: streamPrompt(PROMPT),
    sampling_params: { max_new_tokens: TOKENS },
    logprob_start_len: 0,
    top_logprobs_num: alternatives,
    stream: true,
  }
  const chunk = replyOf(request, manner === 'incremental' ? middle - 1 : 0, middle)
  return TOKENS * (JSON.stringify(chunk).length + 'data: \n\n'.length)
}

/**
 * `node peers/recordings/record.ts [name …]` sends the requests of recorded-requests.ts to the real SGLang and keeps its answers in
 * lib/sglang/recordings. It also keeps the results of SGLang's parsers for the texts of recorded-parsing.ts in
 * lib/builtin-server/messages/golden. Run it by hand after adding a request or changing SGLang's version.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { installPeers, peersFolder } from '../set-up/install.ts'
import { startMixture, startSglang } from '../set-up/processes.ts'
import { callCases, parsingTools, reasoningCases } from './recorded-parsing.ts'
import { type RequestToRecord, recordedRequests } from './recorded-requests.ts'

const root = path.resolve(import.meta.dirname, '..', '..')
const FOLDER = path.join(root, 'lib', 'sglang', 'recordings')
const GOLDEN = path.join(root, 'lib', 'builtin-server', 'messages', 'golden')
const OPTIONS =
  '--device cpu --dtype float32 --model-path tiny-qwen3 (the shipped model) --tool-call-parser qwen25 --reasoning-parser qwen3 --context-length 4096'

const MIXTURE_OPTIONS =
  '--model-path a mixture of experts of it --enable-return-routed-experts --incremental-streaming-output --lora-paths math=tiny-adapter'

const chosen = process.argv.slice(2)
const peers = installPeers(peersFolder())
for (const server of ['incremental', 'cumulative', 'mixture'] as const) {
  const requests = Object.entries(recordedRequests).filter(
    ([name, request]) => (request.server ?? 'incremental') === server && (chosen.length === 0 || chosen.includes(name)),
  )
  const hasParsing = server === 'incremental' && (chosen.length === 0 || chosen.includes('parsing'))
  if (requests.length === 0 && !hasParsing) continue
  const options = server === 'incremental' ? ['--incremental-streaming-output'] : []
  const sglang = await (server === 'mixture' ? startMixture(peers) : startSglang(peers, 'sglang-recorded', options))
  try {
    for (const [name, request] of requests) {
      const server_args = [OPTIONS, ...(server === 'mixture' ? [MIXTURE_OPTIONS] : options)].join(' ')
      const recording = { name, sglang_version: '0.5.23', server_args, ...(await answered(sglang.baseUrl, request)) }
      writeFileSync(path.join(FOLDER, `${name}.json`), `${JSON.stringify(recording)}\n`)
      console.log(`${recording.status} ${name}`)
    }
    if (hasParsing) {
      writeFileSync(path.join(GOLDEN, 'parsing.json'), await parsing(sglang.baseUrl))
      writeFileSync(path.join(GOLDEN, 'call-stream.json'), callStream())
    }
  } finally {
    await sglang.stop()
  }
}

/** Returns a line for each text: the parser, the text, and SGLang's result. */
async function parsing(baseUrl: string): Promise<string> {
  const calls: string[] = []
  for (const { parser, text } of callCases) {
    const body = { text, tools: parsingTools, tool_call_parser: parser }
    const { status, response } = await answered(baseUrl, { path: '/parse_function_call', body })
    calls.push(JSON.stringify([parser, text, status === 200 ? response : status]))
  }
  const reasoning: string[] = []
  for (const { parser, text } of reasoningCases) {
    const body = { text, reasoning_parser: parser, return_blocks: true }
    const { status, response } = await answered(baseUrl, { path: '/separate_reasoning', body })
    reasoning.push(JSON.stringify([parser, text, status === 200 ? response : status]))
  }
  return `{"tools":${JSON.stringify(parsingTools)},"calls":[\n${calls.join(',\n')}\n],"reasoning":[\n${reasoning.join(',\n')}\n]}\n`
}

/** Returns results of SGLang's streaming parser, which has no endpoint. */
function callStream(): string {
  const env = { ...process.env, PYTHONPATH: peers.stubs, SGLANG_USE_CPU_ENGINE: '1' }
  const { status, stdout } = spawnSync(peers.sglang, [path.join(import.meta.dirname, 'stream_calls.py')], {
    encoding: 'utf8',
    env,
  })
  if (status !== 0) throw new Error('stream_calls.py failed')
  return stdout
}

async function answered(baseUrl: string, { path: place, body, batchedWith = [] }: RequestToRecord) {
  const headers = { 'content-type': 'application/json' }
  const post = (to: string, sent: RequestToRecord['body']) =>
    sent === null
      ? fetch(`${baseUrl}${to}`)
      : fetch(`${baseUrl}${to}`, {
          method: 'POST',
          headers,
          body: typeof sent === 'string' ? sent : JSON.stringify(sent),
        })
  if (batchedWith.length > 0) await post('/pause_generation', { mode: 'in_place' })
  const others = batchedWith.map((other) => post(place, other))
  const reply = post(place, body)
  if (batchedWith.length > 0) {
    // A paused scheduler does not report its queue, which requests reach within milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 2000))
    await post('/continue_generation', {})
  }
  for (const other of others) await (await other).text()
  const response = await reply
  const answer = published(await response.text())
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const recording: { readonly stream_lines?: readonly string[]; readonly response?: unknown } = isStream
    ? { stream_lines: answer.match(/.*\n/g) ?? [] }
    : { response: json(answer) }
  return {
    request: {
      method: body === null ? 'GET' : 'POST',
      path: place,
      headers,
      body,
      ...(batchedWith.length > 0 && { batchedWith }),
    },
    status: response.status,
    response_headers: [['content-type', response.headers.get('content-type') ?? '']],
    ...recording,
  }
}

/** Returns the parsed JSON, or the text of an internal server error, which is not JSON. */
function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Removes paths of the local machine, which refusals contain. */
function published(text: string): string {
  return text.replaceAll(/\/[\w./-]*site-packages/g, '<site-packages>').replaceAll(`${peers.folder}/`, '')
}

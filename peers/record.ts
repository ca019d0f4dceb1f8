/**
 * `node peers/record.ts [name …]` asks the real SGLang for what recorded-requests.ts names and keeps its answers in
 * lib/sglang/recordings, and what its parsers make of recorded-parsing.ts's texts in lib/local-model/messages/golden. Run by hand, when a request is added or SGLang's version changes.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { installPeers } from './install.ts'
import { startSglang } from './processes.ts'
import { callCases, parsingTools, reasoningCases } from './recorded-parsing.ts'
import { type RecordedRequest, recordedRequests } from './recorded-requests.ts'

const here = import.meta.dirname
const FOLDER = path.join(here, '..', 'lib', 'sglang', 'recordings')
const GOLDEN = path.join(here, '..', 'lib', 'local-model', 'messages', 'golden')
const SERVER =
  '--device cpu --dtype float32 --model-path tiny-qwen3 (the shipped model) --tool-call-parser qwen25 --reasoning-parser qwen3 --context-length 4096 --incremental-streaming-output'

const chosen = process.argv.slice(2)
const peers = installPeers(path.resolve(process.env.ROLLSCOPE_PEERS ?? path.join(here, '..', '.cache', 'peers')))
const sglang = await startSglang(peers, 'sglang-recorded', ['--incremental-streaming-output'])
try {
  for (const [name, request] of Object.entries(recordedRequests)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue
    const recording = { name, sglang_version: '0.5.23', server_args: SERVER, ...(await answered(request)) }
    writeFileSync(path.join(FOLDER, `${name}.json`), `${JSON.stringify(recording)}\n`)
    console.log(`${recording.status} ${name}`)
  }
  if (chosen.length === 0 || chosen.includes('parsing')) {
    writeFileSync(path.join(GOLDEN, 'parsing.json'), await parsing())
    writeFileSync(path.join(GOLDEN, 'call-stream.json'), callStream())
  }
} finally {
  await sglang.stop()
}

/** A line for each text: the parser, the text, and what SGLang makes of it. */
async function parsing(): Promise<string> {
  const calls: string[] = []
  for (const { parser, text } of callCases) {
    const body = { text, tools: parsingTools, tool_call_parser: parser }
    const { status, response } = await answered({ path: '/parse_function_call', body })
    calls.push(JSON.stringify([parser, text, status === 200 ? response : status]))
  }
  const reasoning: string[] = []
  for (const { parser, text } of reasoningCases) {
    const body = { text, reasoning_parser: parser, return_blocks: true }
    const { status, response } = await answered({ path: '/separate_reasoning', body })
    reasoning.push(JSON.stringify([parser, text, status === 200 ? response : status]))
  }
  return `{"tools":${JSON.stringify(parsingTools)},"calls":[\n${calls.join(',\n')}\n],"reasoning":[\n${reasoning.join(',\n')}\n]}\n`
}

/** SGLang's reader of growing texts, which has no endpoint. */
function callStream(): string {
  const env = { ...process.env, PYTHONPATH: peers.stubs, SGLANG_USE_CPU_ENGINE: '1' }
  const { status, stdout } = spawnSync(peers.sglang, [path.join(here, 'stream_calls.py')], { encoding: 'utf8', env })
  if (status !== 0) throw new Error('stream_calls.py failed')
  return stdout
}

async function answered({ path: place, body }: RecordedRequest) {
  const headers = { 'content-type': 'application/json' }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`${sglang.baseUrl}${place}`, { method: 'POST', headers, body: text })
  const answer = published(await response.text())
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const kept: { readonly stream_lines?: readonly string[]; readonly response?: unknown } = isStream
    ? { stream_lines: answer.match(/.*\n/g) ?? [] }
    : { response: json(answer) }
  return {
    request: { method: 'POST', path: place, headers, body },
    status: response.status,
    response_headers: [['content-type', response.headers.get('content-type') ?? '']],
    ...kept,
  }
}

/** A failure of the server itself is no JSON. */
function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Refusals name files of the machine that SGLang runs on. */
function published(text: string): string {
  return text.replaceAll(/\/[\w./-]*site-packages/g, '<site-packages>')
}

/**
 * Measures sessions under load: 128 clients at once make 8 calls each through sessions of the application, through a session server in Python
 * (sessions/session_server.py), and directly with the ids that the application sent. All three use the same mock of SGLang, whose
 * replies take two seconds. `node bench/server/sessions.ts`, Linux only.
 *
 * The figures are the latency that a session adds to the direct call, and the processor time of each session server for a call. Both servers must
 * have the same ids at the end.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Agent, setGlobalDispatcher } from 'undici'
import { AUTHORIZED, startApplication, stopApplication } from '../../e2e/support/application.ts'
import { freePort } from '../../e2e/support/free-port.ts'
import { installSessionServer, peersFolder } from '../../peers/set-up/install.ts'
import { buildWhenNeeded } from '../../scripts/build.ts'
import { percentile, reportFigure } from '../support/figures.ts'
import { processorMs } from '../support/load/processor-time.ts'
import { startMockServer } from './rollout-overhead/processes.ts'
import { TOKENIZER_FOLDER, taskOf } from './rollout-overhead/workload.ts'

const SESSIONS = 128
const CALLS = 8
const TOKENS = 256
const REPLY_MS = 2000
/** Sessions that make the same calls before the measured ones. */
const WARM_UP = 128
/** The smallest ratio of Python's processor time to that of the application. */
const LEAST_RATIO = 2

/** Clients wait for their replies with a connection each. */
setGlobalDispatcher(new Agent({ connections: null, keepAliveTimeout: 600_000 }))
const HEADERS = { ...AUTHORIZED, 'content-type': 'application/json' }

interface ChatReply {
  readonly choices: readonly {
    readonly message: {
      readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
    }
  }[]
}

interface Records {
  readonly records?: readonly { readonly request: { readonly input_ids: readonly number[] } }[]
  readonly metadata: { readonly accumulated_token_ids: readonly number[] }
}

/** What one kind of server needed for all calls. */
interface Measured {
  /** Milliseconds of each call, from its request to the end of its answer. */
  readonly latencies: readonly number[]
  /** Milliseconds of processor time for a call. */
  readonly processorMs: number
  /** The records of every session. */
  readonly sessions: readonly Records[]
}

if (!(await buildWhenNeeded())) throw new Error('the application cannot be built')
const python = installSessionServer(peersFolder())
const { server: upstream, baseUrl } = await startMockServer({
  turns: CALLS,
  tokens: TOKENS,
  alternatives: 0,
  streamed: 'incremental',
  replyMs: REPLY_MS,
})
const { systemPrompt, tool, pages, prompts } = taskOf(
  baseUrl,
  { turns: CALLS, tokens: TOKENS, alternatives: 0 },
  { warmUp: WARM_UP, rollouts: SESSIONS, concurrency: SESSIONS },
)
const TOOLS = [
  { type: 'function', function: { name: tool.name, description: tool.description, parameters: tool.inputSchema } },
]
try {
  const ours = await measureApplication()
  const theirs = await measurePython()
  const accumulated = ({ sessions }: Measured) => sessions.map(({ metadata }) => metadata.accumulated_token_ids)
  if (!isDeepStrictEqual(accumulated(ours), accumulated(theirs))) throw new Error('the ids of both servers differ')
  const direct = await measureDirect(ours.sessions)
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const directMs = percentile(direct, share)
    reportFigure(`direct call, ${name}`, directMs, 'ms')
    reportFigure(`added by a session, ${name}`, percentile(ours.latencies, share) - directMs, 'ms')
    reportFigure(`added by Python’s server, ${name}`, percentile(theirs.latencies, share) - directMs, 'ms')
  }
  reportFigure('processor time of a call', ours.processorMs, 'ms')
  reportFigure('processor time of a call, Python’s server', theirs.processorMs, 'ms')
  reportFigure('Python’s processor time', theirs.processorMs / ours.processorMs, '×', { atLeast: LEAST_RATIO })
} finally {
  upstream.kill()
}

async function measureApplication(): Promise<Measured> {
  const data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-bench-'))
  const application = await startApplication(data, {
    SGLANG_BASE_URL: baseUrl,
    ROLLSCOPE_TOKENIZERS: path.dirname(TOKENIZER_FOLDER),
  })
  try {
    const create = async (number: number) => {
      const body = JSON.stringify({ session_id: `session-${number}`, parser: 'hermes' })
      await answerOf(`${application.base}/sessions`, body)
    }
    return await measure(application.base, application.child, create)
  } finally {
    await stopApplication(application, 'SIGTERM')
    rmSync(data, { recursive: true, force: true })
  }
}

async function measurePython(): Promise<Measured> {
  const port = await freePort()
  const script = path.join(import.meta.dirname, 'sessions', 'session_server.py')
  const child = spawn(python, [script, String(port), baseUrl, TOKENIZER_FOLDER], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, HF_HUB_OFFLINE: '1', PYTHONDONTWRITEBYTECODE: '1' },
  })
  const exited = once(child, 'exit')
  try {
    const base = `http://127.0.0.1:${port}`
    while (
      !(await fetch(`${base}/openapi.json`).then(
        ({ ok }) => ok,
        () => false,
      ))
    ) {
      if (child.exitCode !== null) throw new Error('Python’s server did not start')
      await pause(100)
    }
    return await measure(base, child, async () => {})
  } finally {
    child.kill()
    await exited
  }
}

/** Runs the conversations through a session server, after a warm-up. */
async function measure(
  base: string,
  child: ChildProcess,
  create: (number: number) => Promise<void>,
): Promise<Measured> {
  const run = async (numbers: readonly number[]): Promise<readonly number[]> => {
    for (const number of numbers) await create(number)
    const latencies = await staggered(numbers, (number) => converse(base, number))
    return latencies.flat()
  }
  const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)
  await run(numbers(0, WARM_UP))
  const before = processorMs(child)
  const measured = numbers(WARM_UP, SESSIONS)
  const latencies = await run(measured)
  const spent = processorMs(child) - before
  const sessions: Records[] = []
  for (const number of measured)
    sessions.push(JSON.parse((await answerOf(`${base}/sessions/session-${number}`)).text) as Records)
  return { latencies, processorMs: spent / latencies.length, sessions }
}

/** Runs all at once, their beginnings spread over the time of a reply. */
function staggered<Task, Result>(tasks: readonly Task[], run: (task: Task) => Promise<Result>): Promise<Result[]> {
  return Promise.all(
    tasks.map(async (task, index) => {
      await pause((REPLY_MS * index) / tasks.length)
      return run(task)
    }),
  )
}

/** Makes the calls of a conversation as an agent does, and returns the milliseconds of each. */
async function converse(base: string, number: number): Promise<readonly number[]> {
  const messages: unknown[] = [
    { role: 'system', content: systemPrompt },
    { role: 'user', content: prompts[number] },
  ]
  const latencies: number[] = []
  while (latencies.length < CALLS) {
    const body = JSON.stringify({ model: 'mock', messages, tools: TOOLS, temperature: 1, max_tokens: TOKENS })
    const { text, ms } = await answerOf(`${base}/sessions/session-${number}/v1/chat/completions`, body)
    latencies.push(ms)
    const message = (JSON.parse(text) as ChatReply).choices[0]?.message
    const called = message?.tool_calls?.[0]
    if ((called === undefined) !== (latencies.length === CALLS)) throw new Error(`call ${latencies.length}: ${text}`)
    if (!called) break
    const { page } = JSON.parse(called.function.arguments) as { readonly page: number }
    messages.push(message, { role: 'tool', tool_call_id: called.id, content: pages[page] })
  }
  return latencies
}

/** Sends the ids of the application's calls to the mock as the application does, and returns the milliseconds of each. */
async function measureDirect(sessions: readonly Records[]): Promise<readonly number[]> {
  const sampling = { temperature: 1, max_new_tokens: TOKENS, no_stop_trim: true, stream_interval: 16 }
  const latencies = await staggered(sessions, async ({ records = [] }) => {
    const own: number[] = []
    for (const { request } of records) {
      const body = { input_ids: request.input_ids, sampling_params: sampling, return_logprob: true, stream: true }
      own.push((await answerOf(`${baseUrl}/generate`, JSON.stringify(body))).ms)
    }
    return own
  })
  return latencies.flat()
}

/** Returns the text of an answer, and the milliseconds until its end. Throws for another status than 200. */
async function answerOf(address: string, body?: string): Promise<{ readonly text: string; readonly ms: number }> {
  const start = performance.now()
  const response = await fetch(address, { headers: HEADERS, ...(body !== undefined && { method: 'POST', body }) })
  const text = await response.text()
  const ms = performance.now() - start
  if (!response.ok) throw new Error(`${address}: ${response.status} ${text.slice(0, 500)}`)
  return { text, ms }
}

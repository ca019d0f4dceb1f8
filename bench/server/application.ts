/**
 * Measures the processor time of the whole application (HTTP, events, storage) for 1,000 output tokens of a rollout, beside that
 * of the bare agent, and the rollouts that it finishes in a second. Both run the same rollouts against the same mock server, and must
 * produce the same ids. Linux only.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import {
  type Application,
  AUTHORIZED,
  CHANGING,
  startApplication,
  stopApplication,
} from '../../e2e/support/application.ts'
import { buildWhenNeeded } from '../../scripts/build.ts'
import { median, reportFigure } from '../support/figures.ts'
import { processorMs } from '../support/load/processor-time.ts'
import { perThousand, runOurs, startMockServer } from './rollout-overhead/processes.ts'
import { type Shape, TOKENIZER_FOLDER, taskOf, type WorkloadTask } from './rollout-overhead/workload.ts'

interface Case extends Shape {
  readonly name: string
}

const TURNS = { turns: 4, tokens: 256, alternatives: 0 }
const CASES: readonly Case[] = [
  { ...TURNS, name: 'replies that are fetched whole' },
  { ...TURNS, name: 'streamed replies', streamed: 'incremental' },
]
const RUNS = { warmUp: 100, rollouts: 400, concurrency: 16 }
const PAIRS = 3

if (!(await buildWhenNeeded())) throw new Error('the application cannot be built')
for (const one of CASES) {
  const { server, baseUrl } = await startMockServer(one)
  try {
    const whole = taskOf(baseUrl, one, RUNS)
    const [page = ''] = whole.pages
    // A mock tool of the application has one reply.
    const task = { ...whole, pages: whole.pages.map(() => page) }
    const bare: number[] = []
    const application: number[] = []
    const perSecond: number[] = []
    for (let pair = 0; pair < PAIRS; pair++) {
      const agentOnly = await runOurs(task)
      bare.push(perThousand(agentOnly))
      const within = await runInApplication(task, page)
      application.push(perThousand(within))
      perSecond.push(within.perSecond)
      if (agentOnly.idsHash !== within.idsHash) throw new Error(`${one.name}: the ids of the first rollout differ`)
    }
    reportFigure(`${one.name}: the bare agent, per 1,000 tokens`, median(bare), 'ms')
    reportFigure(`${one.name}: the application, per 1,000 tokens`, median(application), 'ms')
    reportFigure(`${one.name}: the application over the bare agent`, median(application) / median(bare), '×')
    reportFigure(`${one.name}: rollouts a second in the application`, median(perSecond), '')
  } finally {
    server.kill()
  }
}

/** Runs all rollouts of a task over HTTP and returns the cost of those after the warm-up. */
async function runInApplication(task: WorkloadTask, page: string) {
  const data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-bench-'))
  const application = await startApplication(data, {
    SGLANG_BASE_URL: task.baseUrl,
    ROLLSCOPE_TOKENIZERS: path.dirname(TOKENIZER_FOLDER),
  })
  try {
    const { firstKey } = await rollouts(application, task, page, 0, task.warmUp)
    const before = processorMs(application.child)
    const start = performance.now()
    const { outputTokens } = await rollouts(application, task, page, task.warmUp, task.prompts.length)
    const perSecond = (1000 * (task.prompts.length - task.warmUp)) / (performance.now() - start)
    const cpuMs = processorMs(application.child) - before
    const stored = await fetch(new URL(`/api/trajectories/${encodeURIComponent(firstKey)}`, application.base), {
      headers: AUTHORIZED,
    })
    return { cpuMs, outputTokens, perSecond, idsHash: inputHash(ids((await stored.json()) as Trajectory)) }
  } finally {
    await stopApplication(application, 'SIGTERM')
    rmSync(data, { recursive: true, force: true })
  }
}

/** Runs the prompts of a range, several at a time, each with its own connection until it ends. */
async function rollouts(application: Application, task: WorkloadTask, page: string, from: number, to: number) {
  let next = from
  let outputTokens = 0
  let firstKey = ''
  const work = async () => {
    while (next < to) {
      const number = next++
      const run = await rollout(application, task, page, task.prompts[number] ?? '')
      outputTokens += run.outputTokens
      if (number === from) firstKey = run.key
    }
  }
  await Promise.all(Array.from({ length: task.concurrency }, work))
  return { outputTokens, firstKey }
}

async function rollout({ base }: Application, task: WorkloadTask, page: string, prompt: string) {
  const { name, description, inputSchema } = task.tool
  const response = await fetch(new URL('/api/rollouts', base), {
    method: 'POST',
    headers: CHANGING,
    body: JSON.stringify({
      system: task.systemPrompt,
      prompt,
      tools: [{ name, description, inputSchema, mock: { reply: { kind: 'canned', text: page } } }],
      parser: 'hermes',
      tokenizer: path.basename(TOKENIZER_FOLDER),
      sampling: task.sampling,
      promptLogprobs: true,
      topLogprobs: task.alternatives,
      stream: task.isStreamed,
    }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`the rollout was refused: ${text}`)
  const events = text
    .trimEnd()
    .split('\n')
    .map((line): RolloutEvent => JSON.parse(line))
  const last = events.at(-1)
  if (last?.type !== 'ended' || last.outcome.kind !== 'ended' || last.outcome.reason !== 'end_turn')
    throw new Error(`the rollout ended as ${JSON.stringify(last)}`)
  return {
    key: decodeURIComponent(response.headers.get('x-trajectory-id') ?? ''),
    outputTokens: events.reduce((sum, event) => sum + (event.type === 'tokens' ? event.ids.length : 0), 0),
  }
}

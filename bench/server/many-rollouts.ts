/**
 * Runs 2,000 rollouts over HTTP, 128 at a time, with 20 pages of one browser open. It checks that memory is flat after the
 * first 500, that every rollout is recorded with the ids that the server read and wrote, and that the page in front responds
 * meanwhile. Linux only.
 *
 * `node bench/server/many-rollouts.ts [ROLLOUTS]` runs another number, in four parts.
 */
import type { Page } from '@playwright/test'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { TOKEN } from '../../e2e/support/application.ts'
import { freePort } from '../../e2e/support/free-port.ts'
import { type Bench, weigh, withBench } from '../support/browser.ts'
import { percentile, reportFigure } from '../support/figures.ts'
import { type ProcessMemory, watchMemory } from '../support/load/process-memory.ts'
import {
  builtInTokenizer,
  type ScriptedReply,
  type ScriptedSglang,
  startScriptedSglang,
} from '../support/load/scripted-sglang.ts'

const ROLLOUTS = Number(process.argv[2] ?? 2000)
const CONCURRENCY = 128
/** Memory after each part is compared with that after the first. */
const PARTS = 4
const PROSE_TOKENS = 100
/** Runs with this seed or a larger one have no end; pages show them. */
const ENDLESS = 1_000_000
const LIVE_PAGES = 8
const MEGABYTE = 1 << 20
const CHANGING = { authorization: `Bearer ${TOKEN}`, 'x-rollscope': '1', 'content-type': 'application/json' }

const tokenizer = await builtInTokenizer()
const words = tokenizer.encode(
  'the ids that a model has sampled go back to it as they are, so that nothing is lost on the way',
)
const calling = tokenizer.encode(
  '\n<tool_call>\n{"name": "calculator", "arguments": {"expression": "3 * 7"}}\n</tool_call>',
)

const inspectorPort = await freePort()
await withBench(
  async (bench) => {
    const server = await startScriptedSglang(replyTo)
    await call(bench, '/api/servers', 'POST', { name: 'scripted', baseUrl: server.baseUrl })
    const memory = await watchMemory(bench.child, inspectorPort)
    try {
      await measure(bench, memory, server)
    } finally {
      memory.close()
      await server.close()
    }
  },
  { NODE_OPTIONS: `--inspect-port=${inspectorPort}` },
)

async function measure(bench: Bench, memory: ProcessMemory, server: ScriptedSglang): Promise<void> {
  const first = await runs(bench, 0, 1)
  const pages = await openPages(bench, first[0]?.key ?? '')
  const resident: number[] = []
  const sampling = setInterval(() => resident.push(memory.resident() / MEGABYTE), 500)
  const asking = keepAsking(pages[0] as Page)
  const started: Started[] = [...first]
  const parts: { readonly server: number; readonly resident: number; readonly pages: number }[] = []
  const beginning = performance.now()
  for (let part = 1; part <= PARTS; part++) {
    const upTo = Math.round((ROLLOUTS * part) / PARTS)
    started.push(...(await runs(bench, started.length, upTo)))
    const { heap, external, resident: now } = await memory.collected()
    let pageBytes = 0
    for (const page of pages) pageBytes += heapOf(await weigh(page))
    parts.push({ server: heap + external, resident: now, pages: pageBytes })
    reportFigure(`after ${upTo} rollouts: heap and buffers of the server`, (heap + external) / MEGABYTE, 'MB')
    reportFigure(`after ${upTo} rollouts: resident memory of the server`, now / MEGABYTE, 'MB')
    reportFigure(`after ${upTo} rollouts: heap of the ${pages.length} pages`, pageBytes / MEGABYTE, 'MB')
  }
  const seconds = (performance.now() - beginning) / 1000
  clearInterval(sampling)
  const answers = await asking.stop()
  const ratio = (of: (part: (typeof parts)[number]) => number) =>
    of(parts.at(-1) as (typeof parts)[number]) / of(parts[0] as (typeof parts)[number])
  reportFigure(
    'heap and buffers of the server, last part by first',
    ratio(({ server }) => server),
    '×',
    1.15,
  )
  reportFigure(
    'resident memory of the server, last part by first',
    ratio(({ resident }) => resident),
    '×',
    1.15,
  )
  reportFigure(
    'heap of the pages, last part by first',
    ratio(({ pages }) => pages),
    '×',
    1.15,
  )
  reportFigure('peak of resident memory', Math.max(...resident), 'MB')
  reportFigure('a frame and an answer in the page in front, p95', percentile(answers, 0.95), 'ms')
  reportFigure('a frame and an answer in the page in front, longest', Math.max(...answers), 'ms')
  reportFigure('rollouts in a second', started.length / seconds, '')
  reportFigure('pages that still show their run', await growingPages(pages), '', { atLeast: LIVE_PAGES })
  reportFigure('rollouts that did not finish', started.filter(({ reason }) => reason !== 'end_turn').length, '', 0)
  reportFigure('rollouts whose stored ids are not those of the server', await wrongIds(bench, server, started), '', 0)
}

/** Returns the first reply of a run, which calls the calculator, or the second, which answers. */
function replyTo(_asked: unknown, seed: number, call: number): ScriptedReply {
  const next = randomNumbers(2 * seed + call)
  const prose = (count: number) => Array.from({ length: count }, () => words[Math.floor(next() * words.length)] ?? 0)
  if (seed >= ENDLESS)
    return { ids: prose(20_000), finish: { type: 'length', length: 20_000 }, tokensPerChunk: 1, msPerChunk: 1000 }
  const end = tokenizer.endOfTurn
  const written = [...prose(PROSE_TOKENS), ...(call === 0 ? calling : []), end]
  return { ids: written, finish: { type: 'stop', matched: end }, tokensPerChunk: 10, msPerChunk: 20 }
}

interface Started {
  readonly seed: number
  readonly key: string
  /** The reason of its end. */
  readonly reason: string
}

/** Runs the rollouts with numbers from `from` up to, but without, `to`. Each has its own connection until it ends. */
async function runs(bench: Bench, from: number, to: number): Promise<readonly Started[]> {
  let next = from
  const started: Started[] = []
  const work = async () => {
    while (next < to) started.push(await oneRun(bench, next++))
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return started
}

async function oneRun(bench: Bench, seed: number): Promise<Started> {
  const response = await fetch(new URL('/api/rollouts', bench.base), {
    method: 'POST',
    headers: CHANGING,
    body: JSON.stringify(requestOf(seed)),
  })
  if (!response.ok) return { seed, key: '', reason: `${response.status} ${await response.text()}` }
  const text = await response.text()
  const last = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as RolloutEvent
  const reason =
    last.type !== 'ended' ? last.type : last.outcome.kind === 'ended' ? last.outcome.reason : last.outcome.kind
  return { seed, key: decodeURIComponent(response.headers.get('x-trajectory-id') ?? ''), reason }
}

function requestOf(seed: number) {
  return {
    prompt: `Question ${seed}: what is 3 * 7?`,
    server: 'scripted',
    tools: ['calculator'],
    sampling: { max_new_tokens: 20_000, sampling_seed: seed },
  }
}

/** Returns the number of rollouts whose record differs from what the server read and wrote. Prints the first. */
async function wrongIds(bench: Bench, { exchanges }: ScriptedSglang, started: readonly Started[]): Promise<number> {
  let wrong = 0
  for (const { seed, key, reason } of started) {
    const trajectory = (await call(bench, `/api/trajectories/${encodeURIComponent(key)}`)) as Trajectory
    const calls = exchanges.get(seed) ?? []
    const responses = trajectory.segments.filter(({ kind }) => kind === 'response')
    const last = calls.at(-1)
    const isRight =
      calls.length === 2 &&
      responses.length === 2 &&
      responses.every((response, index) => `${response.ids}` === `${calls[index]?.wrote}`) &&
      `${ids(trajectory)}` === `${[...(last?.read ?? []), ...(last?.wrote ?? [])]}`
    if (!isRight && wrong++ === 0) console.error(`rollout ${seed} (${key}, ${reason}) is recorded otherwise`)
  }
  return wrong
}

/**
 * Opens twenty pages of one user, which share six connections: eight runs in progress, the library six times, the inspector
 * four times, the lab, and the servers. The first page is in front.
 */
async function openPages(bench: Bench, key: string): Promise<readonly Page[]> {
  const live: string[] = []
  for (let index = 0; index < LIVE_PAGES; index++) {
    const { trajectoryId } = await call(bench, '/api/rollouts', 'POST', {
      ...requestOf(ENDLESS + index),
      detached: true,
    })
    live.push(`/?t=${trajectoryId}`)
  }
  const inspected = `/t/${encodeURIComponent(key)}`
  const addresses = [...live, ...Array(6).fill('/library'), ...Array(4).fill(inspected), '/templates', '/servers']
  const context = await bench.newContext()
  const pages: Page[] = []
  for (const [index, address] of addresses.entries())
    pages.push(await bench.open(address, bench.base, { context, isHidden: index > 0 }))
  for (const page of pages.slice(0, LIVE_PAGES)) await page.locator('[data-tokens]').waitFor()
  return pages
}

/** Repeatedly measures the time in which a page draws a frame and gets an answer of the server. */
function keepAsking(page: Page): { stop(): Promise<readonly number[]> } {
  const times: number[] = []
  let isStopped = false
  const asking = (async () => {
    while (!isStopped) {
      const before = performance.now()
      await page.evaluate(async () => {
        await new Promise((resolve) => requestAnimationFrame(resolve))
        await (await fetch('/api/health')).text()
      })
      times.push(performance.now() - before)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })()
  return {
    async stop() {
      isStopped = true
      await asking
      return times
    },
  }
}

/** Returns the number of pages with a run that still receive tokens. */
async function growingPages(pages: readonly Page[]): Promise<number> {
  const shownTokens = (page: Page) => page.locator('[data-tokens]').getAttribute('data-tokens')
  let growing = 0
  for (const page of pages.slice(0, LIVE_PAGES)) {
    const before = await shownTokens(page)
    for (let wait = 0; wait < 50 && (await shownTokens(page)) === before; wait++) await page.waitForTimeout(200)
    if ((await shownTokens(page)) !== before) growing++
  }
  return growing
}

function heapOf({ heap, buffers }: { readonly heap: number; readonly buffers: number }): number {
  return heap + buffers
}

async function call(bench: Bench, path: string, method = 'GET', json?: object) {
  const response = await fetch(new URL(path, bench.base), {
    method,
    headers: CHANGING,
    ...(json && { body: JSON.stringify(json) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

/**
 * Opens 500 event streams whose readers stop reading while the runs continue, and compares them with as many readers that
 * read. Figures are the cost of each stream for the server, the delay of other readers, and whether each stopped reader is
 * cut off and finds every later event again. Linux only.
 *
 * Run it with `node bench/stopped-readers.ts [READERS]`.
 */
import { createHash } from 'node:crypto'
import { Agent, get, type IncomingMessage } from 'node:http'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { TOKEN } from '../e2e/application.ts'
import { freePort } from '../e2e/free-port.ts'
import { type Bench, percentile, withBench } from './browser.ts'
import { reportFigure } from './figures.ts'
import { watchMemory } from './load/process-memory.ts'
import { builtInTokenizer, type ScriptedSglang, startScriptedSglang } from './load/scripted-sglang.ts'

const READERS = Number(process.argv[2] ?? 500)
const RUNS = 5
/** Tokens of each run. Their events exceed what the system buffers for a connection that is not read: about 6 MB on loopback. */
const TOKENS = 36_000
const TOKENS_PER_CHUNK = 40
/** The least bytes of events that a stopped reader has not received; with less, the test would prove nothing. */
const LEAST_BYTES = 12e6
const MS_PER_CHUNK = 50
/** Milliseconds without reading after which a stream is closed with a reason, and after which its connection is closed. */
const STALLED_MS = 30_000
const CUT_OFF_MS = 60_000
const KILOBYTE = 1 << 10
const MEGABYTE = 1 << 20
/** The answer to a reader of a rollout whose events are no longer kept. */
const GONE = 'status 404'

const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
const tokenizer = await builtInTokenizer()
const words = tokenizer.encode(
  'the ids that a model has sampled go back to it as they are, so that nothing is lost on the way',
)

const inspectorPort = await freePort()
await withBench(
  async (bench) => {
    let begin = Promise.withResolvers<void>()
    const server = await startScriptedSglang(async (_asked, seed) => {
      await begin.promise
      const ids = Array.from({ length: TOKENS }, (_, index) => words[(index * (seed + 1)) % words.length] ?? 0)
      const finish = { type: 'length', length: TOKENS } as const
      return { ids, finish, tokensPerChunk: TOKENS_PER_CHUNK, msPerChunk: MS_PER_CHUNK }
    })
    const memory = await watchMemory(bench.child, inspectorPort)
    try {
      await call(bench, '/api/servers', 'POST', { name: 'scripted', baseUrl: server.baseUrl })
      const beside = await round(bench, server, { count: READERS, isReading: true }, () => begin.resolve())
      reportFigure('a chunk to its reader, beside those that read, p95', percentile(beside.delays, 0.95), 'ms')
      begin = Promise.withResolvers<void>()
      const before = await memory.collected()
      let peak = 0
      const sampling = setInterval(() => {
        peak = Math.max(peak, memory.resident())
      }, 250)
      const crowded = await round(bench, server, { count: READERS, isReading: false }, () => begin.resolve())
      const full = await memory.collected()
      clearInterval(sampling)
      reportFigure('a chunk to its reader, beside those that stopped, p95', percentile(crowded.delays, 0.95), 'ms', 250)
      reportFigure('events of one run', crowded.bytes / MEGABYTE, 'MB', { atLeast: LEAST_BYTES / MEGABYTE })
      // Readers that have begun keep the events of their runs in memory, once for all of them.
      const events = RUNS * crowded.bytes
      const forEach = (bytes: number) => (bytes - events) / READERS / KILOBYTE
      reportFigure('heap and buffers for each stopped reader', forEach(bytesOf(full, before)), 'kB', 128)
      reportFigure('resident memory for each stopped reader, at its peak', forEach(peak - before.resident), 'kB')
      await finish(bench, server, crowded)
      const after = await memory.collected()
      reportFigure(
        'heap and buffers after all, beside before',
        (after.heap + after.external) / (before.heap + before.external),
        '×',
        1.5,
      )
    } finally {
      memory.close()
      await server.close()
    }
  },
  { NODE_OPTIONS: `--inspect-port=${inspectorPort}` },
)

function bytesOf(one: { heap: number; external: number }, other: { heap: number; external: number }): number {
  return one.heap + one.external - other.heap - other.external
}

interface Round {
  /** Milliseconds from the sending of each chunk by the server to the reader of its run. */
  readonly delays: readonly number[]
  /** Bytes of all events of a run. */
  readonly bytes: number
  readonly stopped: readonly StoppedReader[]
  readonly whole: ReadonlyMap<string, Stream>
}

interface Stream {
  readonly lines: number
  readonly hash: string
}

interface Others {
  readonly count: number
  /** False: they have begun and then stopped reading. */
  readonly isReading: boolean
}

/** Runs all rollouts to their end. One reader of each reads, in addition to the others. */
async function round(
  bench: Bench,
  server: ScriptedSglang,
  { count, isReading }: Others,
  begin: () => void,
): Promise<Round> {
  const sent = new Map<string, number>()
  server.onChunk = (seed, tokens, at) => sent.set(`${seed} ${tokens}`, at)
  const runs = await Promise.all(
    Array.from({ length: RUNS }, async (_, seed): Promise<Run> => {
      const { rolloutId, trajectoryId: key } = await call(bench, '/api/rollouts', 'POST', {
        prompt: `Question ${seed}`,
        server: 'scripted',
        topLogprobs: 20,
        detached: true,
        sampling: { max_new_tokens: TOKENS, sampling_seed: seed },
      })
      return { seed, rolloutId, key }
    }),
  )
  const delays: number[] = []
  let bytes = 0
  const whole = new Map<string, Stream>()
  const reading = runs.map(async ({ seed, rolloutId }) => {
    let tokens = 0
    const lines = createLineCounter((line) => {
      const event = JSON.parse(line)
      if (event.type === 'segment-started') tokens += event.segment.kind === 'prompt' ? event.segment.ids.length : 0
      if (event.type !== 'tokens') return
      tokens += event.ids.length
      const at = sent.get(`${seed} ${tokens}`)
      if (at !== undefined) delays.push(Date.now() - at)
    })
    for await (const part of await follow(bench, rolloutId, 0)) lines.add(part)
    bytes = Math.max(bytes, lines.bytes)
    whole.set(rolloutId, lines.stream())
  })
  const others = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const run = runs[index % RUNS] as Run
      // The response is not read yet: its data fills the buffers of this process, then those of the system, and then the
      // server waits.
      return { run, response: await follow(bench, run.rolloutId, 0) }
    }),
  )
  if (isReading) for (const { response } of others) response.resume()
  begin()
  await Promise.all(reading)
  return { delays, bytes, stopped: isReading ? [] : others, whole }
}

interface Run {
  readonly seed: number
  readonly rolloutId: string
  /** The key of its trajectory. */
  readonly key: string
}

interface StoppedReader {
  readonly run: Run
  readonly response: IncomingMessage
}

/**
 * Lets half of the readers continue before they are cut off, and half after that. All follow the events again from their last
 * position.
 */
async function finish(bench: Bench, server: ScriptedSglang, { stopped, whole }: Round): Promise<void> {
  await pause(STALLED_MS + 5_000)
  const half = Math.floor(stopped.length / 2)
  const early = await Promise.all(stopped.slice(0, half).map((reader) => readOn(bench, server, reader, whole)))
  await pause(CUT_OFF_MS)
  const late = await Promise.all(stopped.slice(half).map((reader) => readOn(bench, server, reader, whole)))
  const count = (ends: readonly Ended[], is: (ended: Ended) => boolean) => ends.filter(is).length
  reportFigure(
    'readers that read on and were not told that they were too slow',
    count(early, ({ end }) => end !== 'told'),
    '',
    0,
  )
  reportFigure(
    'readers that stopped for good and are not cut off',
    count(late, ({ end }) => end !== 'cut off'),
    '',
    0,
  )
  reportFigure(
    'readers that did not find every event again',
    count([...early, ...late], ({ isWhole }) => !isWhole),
    '',
    0,
  )
}

interface Ended {
  readonly end: 'told' | 'cut off' | 'complete'
  /**
   * True if the reader has all events after following them again, or if the stored trajectory is complete when they are no
   * longer kept.
   */
  readonly isWhole: boolean
}

async function readOn(
  bench: Bench,
  server: ScriptedSglang,
  { run, response }: StoppedReader,
  whole: Round['whole'],
): Promise<Ended> {
  let end: Ended['end'] = 'complete'
  let closedAt: number | undefined
  const lines = createLineCounter((line) => {
    const { type, next } = JSON.parse(line)
    if (type !== 'stream-closed') return
    end = 'told'
    closedAt = next
    return false
  })
  // It is not iterated, because an iterator reports nothing about a response that was cut off before it was read.
  response.on('data', (part) => lines.add(part))
  if (!response.closed) await new Promise((resolve) => response.once('close', resolve))
  if (!response.complete) end = 'cut off'
  const received = lines.count()
  if (closedAt !== undefined && closedAt !== received)
    console.error(`${received} lines came, and ${closedAt} were told`)
  lines.dropRest()
  if (end !== 'complete') {
    const rest = await follow(bench, run.rolloutId, received).catch((error: Error) => error)
    if (rest instanceof Error) return { end, isWhole: rest.message === GONE && (await isStored(bench, server, run)) }
    for await (const part of rest) lines.add(part)
  }
  const { lines: count, hash } = lines.stream()
  const expected = whole.get(run.rolloutId)
  return { end, isWhole: count === expected?.lines && hash === expected.hash }
}

/** Returns whether the stored trajectory has the ids that the server wrote. */
async function isStored(bench: Bench, { exchanges }: ScriptedSglang, { seed, key }: Run): Promise<boolean> {
  const { segments } = (await call(bench, `/api/trajectories/${encodeURIComponent(key)}`)) as Trajectory
  return `${segments.at(-1)?.ids}` === `${exchanges.get(seed)?.at(-1)?.wrote}`
}

/** Requests the events of a rollout. Returns the response, of which nothing has been read. Rejects with `status N`. */
async function follow(bench: Bench, rolloutId: string, from: number): Promise<IncomingMessage> {
  const url = new URL(`/api/rollouts/${rolloutId}/events?from=${from}`, bench.base)
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization: `Bearer ${TOKEN}` } }, (response) => {
      // This ignores errors of a connection that is cut off while it is not read.
      response.on('error', () => {})
      if (response.statusCode === 200) resolve(response)
      else reject(new Error(`status ${response.statusCode}`))
    }).on('error', reject)
  })
}

/** Counts and hashes lines, except those for which `onLine` returns false. */
function createLineCounter(onLine: (line: string) => boolean | undefined) {
  const hash = createHash('sha256')
  let rest = Buffer.alloc(0)
  let count = 0
  let bytes = 0
  return {
    add(part: Buffer) {
      bytes += part.length
      rest = Buffer.concat([rest, part])
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        const line = rest.subarray(0, end).toString('utf8')
        rest = rest.subarray(end + 1)
        if (onLine(line) === false) continue
        hash.update(line)
        count++
      }
    },
    /** Drops an incomplete line, which the next request returns completely. */
    dropRest() {
      rest = Buffer.alloc(0)
    },
    count: () => count,
    get bytes() {
      return bytes
    },
    stream: (): Stream => ({ lines: count, hash: hash.copy().digest('hex') }),
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function call(bench: Bench, path: string, method = 'GET', json?: object) {
  const response = await fetch(new URL(path, bench.base), {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'x-rollscope': '1', 'content-type': 'application/json' },
    ...(json && { body: JSON.stringify(json) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

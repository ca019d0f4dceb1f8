/**
 * Opens 500 event streams whose readers stop reading while the runs continue, and compares them with as many readers that
 * read. Figures are the cost of each stream for the server and for the kernel, the delay of other readers, and whether each
 * stopped reader is cut off and finds every later event again. Linux only; needs `python3`.
 *
 * Run it with `node bench/server/stopped-readers.ts [READERS] [loopback]`. The stopped readers have the segment size and the receive
 * buffers of clients across a network. With `loopback` they have those of the loopback device, where the kernel keeps some
 * 4 MB for each of them: 500 exceed what it has for all connections of a machine, which delays all of them.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { TOKEN } from '../../e2e/support/application.ts'
import { freePort } from '../../e2e/support/free-port.ts'
import { type Bench, withBench } from '../support/browser.ts'
import { percentile, reportFigure } from '../support/figures.ts'
import { type NetworkReaders, openNetworkReaders, type ReadOn } from '../support/load/network-readers.ts'
import { watchMemory } from '../support/load/process-memory.ts'
import { builtInTokenizer, type ScriptedSglang, startScriptedSglang } from '../support/load/scripted-sglang.ts'

const READERS = Number(process.argv[2] ?? 500)
const isLoopback = process.argv[3] === 'loopback'
/** Segments as on Ethernet, and a small receive buffer. */
const SOCKETS = isLoopback ? { receiveBytes: null, segmentBytes: null } : { receiveBytes: 16 << 10, segmentBytes: 1400 }
const RUNS = 5
/**
 * Tokens of each run. Their events exceed what the kernel buffers for a connection that is not read, and the run ends before
 * the readers are disconnected.
 */
const TOKENS = isLoopback ? 36_000 : 18_000
const TOKENS_PER_CHUNK = 40
/** The least bytes of events that a stopped reader has not received; with less, the test would prove nothing. */
const LEAST_BYTES = isLoopback ? 12e6 : 4e6
const MS_PER_CHUNK = 50
/** Milliseconds without reading after which a stream is closed with a reason, and after which its connection is closed. */
const STALLED_MS = 30_000
const CUT_OFF_MS = 60_000
const KILOBYTE = 1 << 10
/** Bytes of a page of memory, the unit of the kernel's figures. */
const PAGE = 4096
const MEGABYTE = 1 << 20
/** The status for a reader of a rollout whose events are no longer kept. */
const GONE = 404

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
      const kernelBefore = kernelTcpBytes()
      let peak = 0
      let kernelPeak = 0
      const sampling = setInterval(() => {
        peak = Math.max(peak, memory.resident())
        kernelPeak = Math.max(kernelPeak, kernelTcpBytes())
      }, 250)
      const crowded = await round(bench, server, { count: READERS, isReading: false }, () => begin.resolve())
      const full = await memory.collected()
      clearInterval(sampling)
      reportFigure('a chunk to its reader, beside those that stopped, p95', percentile(crowded.delays, 0.95), 'ms', 250)
      reportFigure('events of one run', crowded.bytes / MEGABYTE, 'MB', { atLeast: LEAST_BYTES / MEGABYTE })
      reportFigure('TCP memory of the kernel, at its peak', kernelPeak / MEGABYTE, 'MB', kernelTcpPressure() / MEGABYTE)
      reportFigure(
        'TCP memory of the kernel for each stopped reader',
        (kernelPeak - kernelBefore) / READERS / KILOBYTE,
        'kB',
      )
      // Readers that have begun keep the events of their runs in memory, once for all of them.
      const events = RUNS * crowded.bytes
      const forEach = (bytes: number) => (bytes - events) / READERS / KILOBYTE
      reportFigure('heap and buffers for each stopped reader', forEach(bytesOf(full, before)), 'kB', 128)
      reportFigure('resident memory for each stopped reader, at its peak', forEach(peak - before.resident), 'kB')
      await finish(bench, server, crowded)
      crowded.stopped?.close()
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

/** Returns the memory of all TCP connections of this machine. */
function kernelTcpBytes(): number {
  const [, pages] = /^TCP: .*\bmem (\d+)$/m.exec(readFileSync('/proc/net/sockstat', 'utf8')) ?? []
  return Number(pages) * PAGE
}

/** Returns the memory above which the kernel makes the buffers of all TCP connections smaller. */
function kernelTcpPressure(): number {
  return Number(readFileSync('/proc/sys/net/ipv4/tcp_mem', 'utf8').split(/\s+/)[1]) * PAGE
}

function bytesOf(one: { heap: number; external: number }, other: { heap: number; external: number }): number {
  return one.heap + one.external - other.heap - other.external
}

interface Round {
  /** Milliseconds from the sending of each chunk by the server to the reader of its run. */
  readonly delays: readonly number[]
  /** Bytes of all events of a run. */
  readonly bytes: number
  readonly runs: readonly Run[]
  /** The readers that stopped; undefined if all read. */
  readonly stopped: NetworkReaders | undefined
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
  const rollouts = Array.from({ length: count }, (_, index) => runOf(runs, index).rolloutId)
  // Data that is not read fills the buffers of the kernel, and then the server waits.
  const stopped = isReading
    ? undefined
    : await openNetworkReaders({ base: bench.base, token: TOKEN, rollouts, ...SOCKETS })
  if (isReading) for (const response of await Promise.all(rollouts.map((id) => follow(bench, id, 0)))) response.resume()
  begin()
  await Promise.all(reading)
  return { delays, bytes, runs, stopped, whole }
}

/** Returns the run of a reader. */
function runOf(runs: readonly Run[], reader: number): Run {
  return elementAt(runs, reader % RUNS)
}

interface Run {
  readonly seed: number
  readonly rolloutId: string
  /** The key of its trajectory. */
  readonly key: string
}

/**
 * Lets half of the readers continue before they are cut off, and half after that. All follow the events again from their last
 * position.
 */
async function finish(bench: Bench, server: ScriptedSglang, { runs, stopped, whole }: Round): Promise<void> {
  if (!stopped) throw new Error('no reader has stopped')
  const isStoredRun = memoizeByIdentity((run: Run) => isStored(bench, server, run))
  const readOn = async (from: number, to: number): Promise<readonly Ended[]> => {
    const indices = Array.from({ length: to - from }, (_, index) => from + index)
    const found = await stopped.readOn(indices)
    return Promise.all(
      found.map(async ({ end, received, next, status, lines, hash }, index) => {
        if (next !== null && next !== received) console.error(`${received} lines came, and ${next} were told`)
        const run = runOf(runs, from + index)
        if (status !== 200) return { end, isWhole: status === GONE && (await isStoredRun(run)) }
        const expected = whole.get(run.rolloutId)
        return { end, isWhole: lines === expected?.lines && hash === expected.hash }
      }),
    )
  }
  await pause(STALLED_MS + 5_000)
  const half = Math.floor(READERS / 2)
  const early = await readOn(0, half)
  await pause(CUT_OFF_MS)
  const late = await readOn(half, READERS)
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
  readonly end: ReadOn['end']
  /**
   * True if the reader has all events after following them again, or if the stored trajectory is complete when they are no
   * longer kept.
   */
  readonly isWhole: boolean
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

/** Counts and hashes lines. */
function createLineCounter(onLine: (line: string) => void) {
  const hash = createHash('sha256')
  let rest = Buffer.alloc(0)
  let count = 0
  let bytes = 0
  return {
    add(part: Buffer) {
      bytes += part.length
      rest = Buffer.concat([rest, part])
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        const line = rest.subarray(0, end)
        rest = rest.subarray(end + 1)
        onLine(line.toString('utf8'))
        hash.update(line)
        count++
      }
    },
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

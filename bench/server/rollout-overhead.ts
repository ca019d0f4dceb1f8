/**
 * Measures the processor time of a client per 1,000 output tokens of a rollout, and compares it with Python's strands-sglang.
 * Both run against the same mock server. Python's client fetches every reply whole; Rollscope also streams in the cases that
 * are named after it, and runs once without the Strands SDK. `node bench/server/rollout-overhead.ts [case …]` runs the named cases.
 *
 * The figures are user and system time of the whole client process, with garbage collection and compiler threads, but without
 * its start, the loading of its tokenizer, and the rollouts that warm it up. Neither side stores anything. The sides
 * alternate in being first.
 */
import { installStrands, peersFolder } from '../../peers/set-up/install.ts'
import { median, reportFigure } from '../support/figures.ts'
import { perThousand, runOurs, runPythons, startMockServer } from './rollout-overhead/processes.ts'
import { PARTS, type Result, type Shape, taskOf } from './rollout-overhead/workload.ts'

interface Case extends Shape {
  readonly name: string
  readonly concurrency: number
  /** Numbers of rollouts for the warm-up and for the measurement. */
  readonly warmUp: number
  readonly rollouts: number
  /** The smallest ratio of Python's time to ours after the warm-up. Omitted: no bound is set. */
  readonly atLeast?: number
  /** True if only Rollscope runs, once, and only its memory is compared. */
  readonly isOfMemory?: true
}

const TURNS = { turns: 4, tokens: 256, alternatives: 0, warmUp: 200 }
const CASES: readonly Case[] = [
  { ...TURNS, name: 'c1', concurrency: 1, rollouts: 1000, atLeast: 3.5 },
  { ...TURNS, name: 'c16', concurrency: 16, rollouts: 1000, atLeast: 4.5 },
  { ...TURNS, name: 'c128', concurrency: 128, rollouts: 1024, atLeast: 4.5 },
  { ...TURNS, name: 'c16-alternatives', alternatives: 5, concurrency: 16, rollouts: 1000, atLeast: 6 },
  // The warm-up has as many tokens as 200 rollouts of four turns.
  { turns: 32, tokens: 1900, alternatives: 0, name: '64k', concurrency: 1, warmUp: 4, rollouts: 8, atLeast: 5 },
  { turns: 2, tokens: 4000, alternatives: 0, name: 'thinking', concurrency: 16, warmUp: 32, rollouts: 96 },
  { turns: 20, tokens: 300, alternatives: 0, name: 'turns', concurrency: 16, warmUp: 40, rollouts: 120 },
  { ...TURNS, name: 'tools', otherTools: 7, concurrency: 16, rollouts: 1000 },
  { ...TURNS, name: 'stop', stop: ['Observation:', '</answer>'], concurrency: 16, rollouts: 1000 },
  { ...TURNS, name: 'group', samples: 64, concurrency: 64, rollouts: 1024 },
  { ...TURNS, name: 'cumulative', streamed: 'cumulative', concurrency: 16, rollouts: 1000 },
  { ...TURNS, name: 'incremental', streamed: 'incremental', concurrency: 16, rollouts: 1000 },
  { ...TURNS, name: 'flat', concurrency: 16, rollouts: 5000, isOfMemory: true },
]
const PAIRS = 3
/** Warm-up rollouts before the cold figures, as in the benchmark of strands-sglang. */
const COLD_WARM_UP = 2
/** The smallest ratio of Python's time to ours without a warm-up, in every case with a bound. */
const COLD_AT_LEAST = 3
const MOST_MEBIBYTES = 300
/** The greatest growth of the peak over the rollouts after the first fifth. */
const MOST_GROWTH = 1.1

const python = installStrands(peersFolder())
const wanted = process.argv.slice(2)
const chosen = CASES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
if (chosen.length < wanted.length) throw new Error(`the cases are ${CASES.map(({ name }) => name).join(', ')}`)

for (const one of chosen) {
  const { server, baseUrl } = await startMockServer(one)
  try {
    if (one.isOfMemory) {
      await reportMemory(one, baseUrl)
      continue
    }
    const warm = await measureCase(one, baseUrl)
    const cold = await measureCase({ ...one, warmUp: Math.min(COLD_WARM_UP, one.warmUp / 4) }, baseUrl)
    const ratio = (of: (values: readonly number[]) => number, { ours, theirs }: Pick<Pairs, 'ours' | 'theirs'>) =>
      of(theirs.map(perThousand)) / of(ours.map(perThousand))
    const bound = one.atLeast === undefined ? undefined : { atLeast: one.atLeast }
    reportFigure(`${one.name}: Python’s processor time, minima`, ratio(least, warm), '×', bound)
    reportFigure(`${one.name}: the same, medians`, ratio(median, warm), '×', bound)
    const coldBound = bound && { atLeast: COLD_AT_LEAST }
    reportFigure(`${one.name}: the same cold, medians`, ratio(median, cold), '×', coldBound)
    const bare = { ours: warm.withoutSdk, theirs: warm.theirs }
    reportFigure(`${one.name}: the same without the SDK, medians`, ratio(median, bare), '×')
    for (const [side, results] of [
      ['ours', warm.ours],
      ['without the SDK', warm.withoutSdk],
      ['Python’s', warm.theirs],
      ['ours, cold', cold.ours],
      ['Python’s, cold', cold.theirs],
    ] as const) {
      reportFigure(`${one.name}: per 1,000 tokens, ${side}, minimum`, least(results.map(perThousand)), 'ms')
      reportFigure(`${one.name}: per 1,000 tokens, ${side}, median`, median(results.map(perThousand)), 'ms')
    }
    const peak = (results: readonly Result[]) =>
      median(results.map(({ peaksMebibytes }) => peaksMebibytes.at(-1) ?? Number.NaN))
    reportFigure(`${one.name}: peak memory, ours, median`, peak(warm.ours), 'MB', MOST_MEBIBYTES)
    reportFigure(`${one.name}: peak memory, Python’s`, peak(warm.theirs), 'MB')
  } finally {
    server.kill()
  }
}

interface Pairs {
  readonly ours: readonly Result[]
  readonly theirs: readonly Result[]
  readonly withoutSdk: readonly Result[]
}

/** Throws if the ids of both sides differ. */
async function measureCase({ warmUp, rollouts, concurrency, ...shape }: Case, baseUrl: string): Promise<Pairs> {
  const task = taskOf(baseUrl, shape, { warmUp, rollouts, concurrency })
  const ours: Result[] = []
  const theirs: Result[] = []
  const withoutSdk: Result[] = []
  const sides = [
    async () => ours.push(await runOurs(task)),
    async () => theirs.push(await runPythons(python, task)),
    async () => withoutSdk.push(await runOurs({ ...task, withSdk: false })),
  ]
  for (let pair = 0; pair < PAIRS; pair++) for (const side of pair % 2 === 0 ? sides : sides.toReversed()) await side()
  const hashes = new Set([...ours, ...theirs, ...withoutSdk].map(({ idsHash }) => idsHash))
  if (hashes.size !== 1) throw new Error(`${shape.name}: the ids of the first rollout differ`)
  return { ours, theirs, withoutSdk }
}

/** Runs the case once, and reports how much the peak of the memory grows after its first fifth. */
async function reportMemory({ warmUp, rollouts, concurrency, name, ...shape }: Case, baseUrl: string): Promise<void> {
  const task = taskOf(baseUrl, shape, { warmUp, rollouts, concurrency })
  const { peaksMebibytes } = await runOurs(task)
  const [first = Number.NaN] = peaksMebibytes
  const last = peaksMebibytes.at(-1) ?? Number.NaN
  reportFigure(`${name}: peak memory after ${rollouts / PARTS} rollouts`, first, 'MB')
  reportFigure(`${name}: peak memory after ${rollouts} rollouts`, last, 'MB', MOST_MEBIBYTES)
  reportFigure(`${name}: the last by the first`, last / first, '×', MOST_GROWTH)
}

function least(values: readonly number[]): number {
  return Math.min(...values)
}

/**
 * Opens ten thousand damaged files of every supported format, and ten thousand of each container. None may crash the reader or block
 * it for 5 s, each is opened or refused with a position, and memory returns to its level.
 *
 * `node bench/computation/mutated-imports.ts [--seed=18] [--mutants=10000] [--only=Parquet,prime-rl] [folder …]` also mutates the files of
 * further folders; `--only` names formats and containers. A reader runs in its own thread, so that one that never answers is found, named and ended.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { sqliteTablesIn } from '#lib/files/sqlite-tables.ts'
import { memoryTools } from '#lib/formats/containers/container.ts'
import { formats } from '#lib/formats/registry.ts'
import {
  containerMutantOf,
  documentedFiles,
  filesByFormat,
  type GoodContainer,
  type GoodFile,
  goodFiles,
  type Mutant,
  mutantOf,
} from '#lib/formats/test-mutants.ts'
import { verdictOn } from '#lib/formats/test-verdict.ts'
import { tarOf, zipOf } from '#testing/files/archives.ts'
import { reportFigure } from '../support/figures.ts'
import { garbageCollection } from '../support/garbage.ts'

const LONGEST_MS = 5_000
/** The largest time on the clock, which includes other work on the machine. LONGEST_MS limits processor time. */
const LONGEST_WAIT_MS = 120_000
/** The largest memory above the level of the first mutants, in MB. */
const MOST_MEMORY_MB = 100
/** Mutants after which caches are full and code is compiled. */
const WARM_UP = 500
/** The largest file in bytes: larger ones give no better mutants and are slower. */
const LARGEST_FILE = 200_000
const EXAMPLES = ['public/examples', 'lib/formats/golden']

interface Plan {
  readonly seed: number
  readonly files: readonly GoodFile[] | readonly GoodContainer[]
  /** Files of all formats, of which parts are inserted into those of one. */
  readonly others?: readonly GoodFile[]
}

const areContainers = (files: Plan['files']): files is readonly GoodContainer[] => 'bytes' in (files[0] ?? {})

const mutantIn = ({ files, seed, others }: Plan, number: number): Mutant =>
  areContainers(files) ? containerMutantOf(files, number, seed) : mutantOf(files, number, seed, others)

interface Report {
  readonly number: number
  readonly kind: 'opened' | 'refused' | 'crash'
  readonly words: string
  readonly elapsedMs: number
  readonly memoryMb: number | undefined
}

if (isMainThread) await main()
else read(workerData as Plan)

/** Runs in the thread: reads the mutant of each number that it receives. */
function read(plan: Plan): void {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-mutants-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const tools = areContainers(plan.files) ? { ...memoryTools, sqlite: sqliteTablesIn(folder) } : undefined
  const collectGarbage = garbageCollection()
  parentPort?.postMessage('ready')
  parentPort?.on('message', async (number: number) => {
    const { origin, bytes } = mutantIn(plan, number)
    const before = process.threadCpuUsage()
    const judged = await verdictOn(bytes, tools).then(
      (verdict) => ({ kind: verdict.kind, words: verdict.kind === 'refused' ? verdict.message : '' }),
      (error: unknown) => ({
        kind: 'crash' as const,
        words: `${origin}\n${error instanceof Error ? error.stack : error}`,
      }),
    )
    const { user, system } = process.threadCpuUsage(before)
    const elapsedMs = (user + system) / 1000
    const isMeasured = number % WARM_UP === WARM_UP - 1
    if (isMeasured) collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    const memoryMb = isMeasured ? (heapUsed + external) / 2 ** 20 : undefined
    parentPort?.postMessage({ number, ...judged, elapsedMs, memoryMb } satisfies Report)
  })
}

async function main(): Promise<void> {
  const flag = (name: string, standard: number): number =>
    Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.split('=')[1] ?? standard)
  const [seed, mutants] = [flag('seed', 18), flag('mutants', 10_000)]
  const folders = process.argv.slice(2).filter((word) => !word.startsWith('--'))
  const only = process.argv.find((word) => word.startsWith('--only='))?.slice('--only='.length)
  const wanted = only?.split(',')
  const texts = [...goodFiles(EXAMPLES.flatMap(filesIn)), ...documentedFiles(), ...folders.flatMap(filesIn)]
  const byFormat = filesByFormat(texts)
  const without = formats.filter(({ name }) => !byFormat.has(name))
  if (without.length > 0) throw new Error(`no good file of ${without.map(({ name }) => name).join(', ')}`)
  for (const [kind, files] of byFormat)
    if (wanted?.includes(kind) ?? true) await check(kind, { seed, files, others: texts }, mutants)
  for (const [kind, files] of Object.entries(containers()))
    if (wanted?.includes(kind) ?? true) await check(kind, { seed, files }, mutants)
}

/** Reads all mutants of one kind of files. */
async function check(kind: string, plan: Plan, mutants: number): Promise<void> {
  console.log(`${kind}: seed ${plan.seed}, ${mutants} mutants of ${plan.files.length} files`)
  const startedAt = performance.now()
  const rss = () => process.memoryUsage().rss / 2 ** 20
  const reports: Report[] = []
  const failures: string[] = []
  let rssAfterWarmUp = rss()
  let thread = startThread(plan)
  for (let number = 0; number < mutants; number++) {
    const report = await thread.check(number)
    if (report === 'ended' || report === 'hung') {
      failures.push(`mutant ${number} (${mutantIn(plan, number).origin}): the reader ${report}`)
      await thread.end()
      thread = startThread(plan)
      continue
    }
    reports.push(report)
    if (report.kind === 'crash') failures.push(`mutant ${number}: ${report.words}`)
    if (number === WARM_UP) rssAfterWarmUp = rss()
  }
  await thread.end()
  for (const failure of failures.slice(0, 20)) console.log(failure)
  const levels = reports.flatMap(({ memoryMb }) => memoryMb ?? [])
  const count = (kind: Report['kind']): number => reports.filter((report) => report.kind === kind).length
  reportFigure(`${kind}: mutants opened`, count('opened'), '')
  reportFigure(`${kind}: mutants refused`, count('refused'), '')
  reportFigure(
    `${kind}: different refusals`,
    new Set(reports.map(({ words }) => words.replaceAll(/\d+/g, 'N'))).size,
    '',
  )
  reportFigure(`${kind}: crashes`, failures.length - failures.filter((words) => words.endsWith('hung')).length, '', 0)
  reportFigure(
    `${kind}: longer than ${LONGEST_MS / 1000} s`,
    failures.filter((words) => words.endsWith('hung')).length,
    '',
    0,
  )
  reportFigure(`${kind}: slowest mutant`, Math.max(...reports.map(({ elapsedMs }) => elapsedMs)), 'ms', LONGEST_MS)
  reportFigure(
    `${kind}: heap and buffers at the end, over those after 500 mutants`,
    (levels.at(-1) ?? 0) - (levels[0] ?? 0),
    'MB',
    MOST_MEMORY_MB,
  )
  // Decompressed bytes are outside of the heap, and the allocator keeps their pages after they are released.
  const limit = areContainers(plan.files) ? undefined : MOST_MEMORY_MB
  reportFigure(`${kind}: process at the end, over that after 500 mutants`, rss() - rssAfterWarmUp, 'MB', limit)
  reportFigure(`${kind}: all of it`, performance.now() - startedAt, 'ms')
}

/** Returns small containers of each kind. */
function containers(): Readonly<Record<string, readonly GoodContainer[]>> {
  const foreign = (name: string) => ({ name, bytes: readFileSync(`lib/formats/golden/foreign/${name}`) })
  const golden = JSON.parse(readFileSync('lib/formats/golden/containers.json', 'utf8')) as {
    readonly files: Readonly<Record<string, string>>
    readonly streams: Readonly<Record<string, string>>
    readonly spread: { readonly file: string }
  }
  const tables = Object.entries({ ...golden.files, spread: golden.spread.file, ...golden.streams }).map(
    ([name, text]): GoodContainer => ({ name, bytes: Buffer.from(text, 'base64') }),
  )
  const parquet = tables.filter(({ bytes }) => Buffer.from(bytes.subarray(0, 4)).toString() === 'PAR1')
  const example = readFileSync('public/examples/tool-error.json', 'utf8')
  const lines = `${JSON.stringify({ token_ids: [1, 2, 3] })}\n`.repeat(20)
  const entries = [
    { name: 'a.jsonl', content: lines },
    { name: 'b.json', content: example, method: 'zstd' as const },
    { name: 'c', content: lines, method: 'stored' as const },
  ]
  return {
    gzip: [
      { name: 'lines.gz', bytes: gzipSync(lines) },
      { name: 'example.gz', bytes: gzipSync(example) },
    ],
    Zstandard: [
      { name: 'lines.zst', bytes: zstdCompressSync(lines, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }) },
      { name: 'example.zst', bytes: zstdCompressSync(example) },
    ],
    zip: [
      { name: 'a.zip', bytes: zipOf(entries) },
      { name: 'long.zip', bytes: zipOf(entries, true) },
      foreign('inspect-mockllm.eval'),
    ],
    tar: [{ name: 'a.tar', bytes: tarOf(entries) }],
    Parquet: [...parquet, foreign('miles-dashboard.parquet'), foreign('hf-tokens.parquet')],
    Arrow: tables.filter((table) => !parquet.includes(table)),
    SQLite: [foreign('tinker-capture.sqlite')],
    events: [foreign('vllm-chat.sse'), foreign('llama-cpp-completion.sse')],
  }
}

function filesIn(folder: string): readonly GoodFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const file = path.join(folder, name)
    return /\.(json|jsonl)$/.test(name) && statSync(file).size <= LARGEST_FILE
      ? [{ name, text: readFileSync(file, 'utf8') }]
      : []
  })
}

function startThread(plan: Plan) {
  const worker = new Worker(import.meta.filename, { workerData: plan })
  const ready = new Promise((resolve) => worker.once('message', resolve))
  const ended = new Promise<'ended'>((resolve) => {
    worker.once('error', (error) => {
      console.error(error)
      resolve('ended')
    })
    worker.once('exit', () => resolve('ended'))
  })
  /** This process computes nothing else meanwhile, so its processor time is that of the reader. */
  const hung = async (answered: AbortSignal): Promise<'hung'> => {
    const startedAt = performance.now()
    const before = process.cpuUsage()
    for (;;) {
      await setTimeout(200, undefined, { signal: answered, ref: false })
      const { user, system } = process.cpuUsage(before)
      if ((user + system) / 1000 > LONGEST_MS || performance.now() - startedAt > LONGEST_WAIT_MS) return 'hung'
    }
  }
  return {
    async check(number: number): Promise<Report | 'ended' | 'hung'> {
      await Promise.race([ready, ended])
      const answered = new AbortController()
      const answer = new Promise<Report>((resolve) => worker.once('message', resolve))
      worker.postMessage(number)
      try {
        return await Promise.race([answer, ended, hung(answered.signal)])
      } finally {
        answered.abort()
        worker.removeAllListeners('message')
      }
    },
    end: () => worker.terminate(),
  }
}

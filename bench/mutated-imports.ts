/**
 * Opens ten thousand damaged files of every supported format. None may crash the reader or block it for 5 s, each is opened
 * or refused with a position, and memory returns to its level.
 *
 * `node bench/mutated-imports.ts [--seed=18] [--mutants=10000] [folder …]` also mutates the files of further folders. A
 * reader runs in its own thread, so that one that never answers is found, named and ended.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type GoodFile, goodFiles, mutantOf } from '#lib/formats/test-mutants.ts'
import { verdictOn } from '#lib/formats/test-verdict.ts'
import { reportFigure } from './figures.ts'

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
  readonly files: readonly GoodFile[]
}
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
function read({ seed, files }: Plan): void {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  parentPort?.postMessage('ready')
  parentPort?.on('message', async (number: number) => {
    const { origin, bytes } = mutantOf(files, number, seed)
    const before = process.threadCpuUsage()
    const judged = await verdictOn(bytes).then(
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
    const memoryMb = isMeasured ? process.memoryUsage().heapUsed / 2 ** 20 : undefined
    parentPort?.postMessage({ number, ...judged, elapsedMs, memoryMb } satisfies Report)
  })
}

async function main(): Promise<void> {
  const flag = (name: string, standard: number): number =>
    Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.split('=')[1] ?? standard)
  const [seed, mutants] = [flag('seed', 18), flag('mutants', 10_000)]
  const folders = process.argv.slice(2).filter((word) => !word.startsWith('--'))
  const files = [...goodFiles(EXAMPLES.flatMap(filesIn)), ...folders.flatMap(filesIn)]
  console.log(`seed ${seed}, ${mutants} mutants of ${files.length} files`)
  const startedAt = performance.now()
  const rss = () => process.memoryUsage().rss / 2 ** 20
  const reports: Report[] = []
  const failures: string[] = []
  let rssAfterWarmUp = rss()
  let thread = startThread({ seed, files })
  for (let number = 0; number < mutants; number++) {
    const report = await thread.check(number)
    if (report === 'ended' || report === 'hung') {
      failures.push(`mutant ${number} (${mutantOf(files, number, seed).origin}): the reader ${report}`)
      await thread.end()
      thread = startThread({ seed, files })
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
  reportFigure('mutants opened', count('opened'), '')
  reportFigure('mutants refused', count('refused'), '')
  reportFigure('different refusals', new Set(reports.map(({ words }) => words.replaceAll(/\d+/g, 'N'))).size, '')
  reportFigure('crashes', failures.length - failures.filter((words) => words.endsWith('hung')).length, '', 0)
  reportFigure(`longer than ${LONGEST_MS / 1000} s`, failures.filter((words) => words.endsWith('hung')).length, '', 0)
  reportFigure('slowest mutant', Math.max(...reports.map(({ elapsedMs }) => elapsedMs)), 'ms', LONGEST_MS)
  reportFigure(
    'heap at the end, over that after 500 mutants',
    (levels.at(-1) ?? 0) - (levels[0] ?? 0),
    'MB',
    MOST_MEMORY_MB,
  )
  reportFigure('process at the end, over that after 500 mutants', rss() - rssAfterWarmUp, 'MB', MOST_MEMORY_MB)
  reportFigure('all of it', performance.now() - startedAt, 'ms')
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

/** `npm test`: every gate, one after the other; the last line says how many checks passed. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { ensureBrowser } from './browser.ts'

interface Counts {
  readonly passed: number
  readonly failed: number
}

interface Gate {
  readonly name: string
  readonly command: readonly string[]
  /** Reads what the gate counted; a gate without it counts as one check. */
  readonly counts?: () => Counts
  readonly environment?: Readonly<Record<string, string>>
}

const folder = path.resolve(import.meta.dirname, '..')
process.chdir(folder)
const reports = path.join(folder, 'test-results', 'reports')
const vitestReport = path.join(reports, 'vitest.json')
const playwrightReport = path.join(reports, 'playwright.json')

const gates = (browser: string): readonly Gate[] => [
  { name: 'format and lint', command: ['biome', 'check', '.'] },
  { name: 'dead code', command: ['knip'] },
  {
    name: 'unit',
    command: [
      'vitest',
      'run',
      '--coverage',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${vitestReport}`,
    ],
    counts: vitestCounts,
  },
  { name: 'build', command: ['node', 'scripts/build.ts'] },
  // After the build: it writes the types of the routes.
  { name: 'types', command: ['tsc', '--noEmit'] },
  {
    name: 'journeys',
    command: ['playwright', 'test'],
    counts: playwrightCounts,
    environment: { CHROMIUM_PATH: browser, PLAYWRIGHT_JSON_OUTPUT_NAME: playwrightReport },
  },
]

rmSync(reports, { recursive: true, force: true })
mkdirSync(reports, { recursive: true })
const totals = gates(ensureBrowser()).map(run)
const passed = totals.reduce((sum, counts) => sum + counts.passed, 0)
const failed = totals.reduce((sum, counts) => sum + counts.failed, 0)
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function run({ name, command: [program = '', ...parameters], counts, environment }: Gate): Counts {
  console.log(`\n=== ${name}: ${program} ${parameters.join(' ')}`)
  const started = performance.now()
  const { status } = spawnSync(path.join('node_modules', '.bin', program), parameters, {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  })
  console.log(
    `=== ${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${((performance.now() - started) / 1000).toFixed(1)} s`,
  )
  const gate = { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1 }
  const own = counts?.() ?? { passed: 0, failed: 0 }
  // A gate that broke before it counted is a failure all the same; tests that failed are not counted twice.
  return { passed: gate.passed + own.passed, failed: Math.max(gate.failed, own.failed) }
}

function vitestCounts(): Counts {
  const report = readReport<{ readonly numPassedTests: number; readonly numFailedTests: number }>(vitestReport)
  return { passed: report?.numPassedTests ?? 0, failed: report ? report.numFailedTests : 1 }
}

function playwrightCounts(): Counts {
  const report = readReport<{
    readonly stats: { readonly expected: number; readonly unexpected: number; readonly flaky: number }
  }>(playwrightReport)
  return { passed: report?.stats.expected ?? 0, failed: report ? report.stats.unexpected + report.stats.flaky : 1 }
}

function readReport<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T
  } catch {
    return undefined
  }
}

/** `npm test`: every gate, one after the other; the end names what failed, the last line says how many checks passed. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { ensureBrowser } from './browser.ts'
import { playwrightResults, type TestResults, vitestResults } from './test-reports.ts'

interface Gate {
  readonly name: string
  readonly command: readonly string[]
  /** Reads what was tested, where a report of it was left; a gate without it is one check. */
  readonly results?: () => TestResults | undefined
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
    results: () => read(vitestReport, vitestResults),
  },
  { name: 'build', command: ['node', 'scripts/build.ts'] },
  // After the build: it writes the types of the routes.
  { name: 'types', command: ['tsc', '--noEmit'] },
  {
    name: 'journeys',
    command: ['playwright', 'test'],
    results: () => read(playwrightReport, playwrightResults),
    environment: { CHROMIUM_PATH: browser, PLAYWRIGHT_JSON_OUTPUT_NAME: playwrightReport },
  },
]

rmSync(reports, { recursive: true, force: true })
mkdirSync(reports, { recursive: true })
const totals = gates(ensureBrowser()).map(run)
const passed = totals.reduce((sum, results) => sum + results.passed, 0)
const failures = totals.flatMap((results) => results.failures)
for (const { file, title, reason } of failures)
  console.log(`\nFAILED ${path.relative('.', file)}: ${title}\n  ${reason.replaceAll('\n', '\n  ')}`)
console.log(`\n${passed} passed, ${failures.length} failed`)
process.exitCode = failures.length === 0 ? 0 : 1

function run({ name, command: [program = '', ...parameters], results, environment }: Gate): TestResults {
  console.log(`\n=== ${name}: ${program} ${parameters.join(' ')}`)
  const started = performance.now()
  const { status } = spawnSync(path.join('node_modules', '.bin', program), parameters, {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`=== ${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s`)
  const { passed, failures } = results?.() ?? { passed: 0, failures: [] }
  if (status === 0) return { passed: passed + 1, failures }
  // A gate that broke without a test that failed is a failure all the same.
  const itself = { file: program, title: name, reason: `ended with ${status}; what it said stands above` }
  return { passed, failures: failures.length > 0 ? failures : [itself] }
}

function read<T>(file: string, resultsOf: (report: T) => TestResults): TestResults | undefined {
  if (!existsSync(file)) return undefined
  return resultsOf(JSON.parse(readFileSync(file, 'utf8')))
}

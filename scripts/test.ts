/**
 * `npm test` runs every gate; those that are independent run at the same time. The end of the output lists the slowest tests
 * and the failures; the last line has the numbers of passed and failed checks.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { CORE } from '../e2e/support/tags.ts'
import { ensureBrowser } from './browser.ts'
import { type Gate, runGates } from './run-gates.ts'
import { playwrightResults, slowestTests, type TestResults, vitestResults } from './test-reports.ts'

const SLOWEST = 20
const folder = path.resolve(import.meta.dirname, '..')
process.chdir(folder)
const reports = path.join(folder, 'test-results', 'reports')
const vitestReport = path.join(reports, 'vitest.json')
const playwrightReport = path.join(reports, 'playwright.json')
/** Coverage slows the tests down, so only CI measures it. */
const coverage = process.env.CI ? ['--coverage'] : []
/** Journeys take 10 s of a processor each: one or two of each page run at every change, all of them in CI (decision 0060). */
const journeys = process.env.CI ? [] : ['--grep', CORE]

const gates = (browser: string): readonly Gate[] => [
  { name: 'build', command: ['node', 'scripts/build.ts'] },
  {
    name: 'journeys',
    command: ['playwright', 'test', ...journeys],
    after: 'build',
    results: () => read(playwrightReport, playwrightResults),
    environment: { CHROMIUM_PATH: browser, PLAYWRIGHT_JSON_OUTPUT_NAME: playwrightReport },
  },
  { name: 'format and lint', command: ['biome', 'check', '.'] },
  { name: 'dead code', command: ['knip'] },
  // The build and this gate both write next-env.d.ts. Several checkers would each check the types that they share (32 s, not 23).
  { name: 'types', command: ['npm', 'run', 'types', '--', '--checkers', '1'], after: 'build' },
  {
    name: 'unit',
    command: [
      'vitest',
      'run',
      ...coverage,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${vitestReport}`,
    ],
    yields: true,
    results: () => read(vitestReport, vitestResults),
  },
]

rmSync(reports, { recursive: true, force: true })
mkdirSync(reports, { recursive: true })
const totals = await runGates(gates(ensureBrowser()))
const passed = totals.reduce((sum, results) => sum + results.passed, 0)
const failures = totals.flatMap((results) => results.failures)
const tests = totals.flatMap((results) => results.tests)
console.log(`\nThe slowest ${SLOWEST} tests:`)
for (const line of slowestTests(
  tests.map(({ file, ...test }) => ({ ...test, file: path.relative('.', file) })),
  SLOWEST,
))
  console.log(line)
for (const { file, title, reason } of failures)
  console.log(`\nFAILED ${path.relative('.', file)}: ${title}\n  ${reason.replaceAll('\n', '\n  ')}`)
console.log(`\n${passed} passed, ${failures.length} failed`)
process.exitCode = failures.length === 0 ? 0 : 1

function read<T>(file: string, resultsOf: (report: T) => TestResults): TestResults | undefined {
  if (!existsSync(file)) return undefined
  return resultsOf(JSON.parse(readFileSync(file, 'utf8')))
}

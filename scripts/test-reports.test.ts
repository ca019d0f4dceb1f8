/** Reads real reports of small projects with tests that pass, fail, and cannot run. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { playwrightResults, slowestTests, vitestResults } from './test-reports.ts'

let folder: string
beforeEach(() => {
  // The folder is within the tree, so that packages resolve. Git ignores it.
  mkdirSync('.cache', { recursive: true })
  folder = mkdtempSync(path.resolve('.cache', 'reports-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function reportOf(files: Readonly<Record<string, string>>, program: string, parameters: readonly string[]) {
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text)
  const report = path.join(folder, 'report.json')
  const { VITEST: _, TEST_WORKER_INDEX: __, ...environment } = process.env
  const { status } = spawnSync(path.resolve('node_modules', '.bin', program), parameters, {
    cwd: folder,
    env: { ...environment, PLAYWRIGHT_JSON_OUTPUT_NAME: report, FORCE_COLOR: '1' },
  })
  expect(status, 'the exit status reports failures too').toBe(1)
  return JSON.parse(readFileSync(report, 'utf8'))
}

test('the vitest report names failed tests with their groups and reasons, and files that cannot run', () => {
  const report = reportOf(
    {
      'vitest.config.ts': 'export default {}\n',
      'some.test.ts': `import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
describe('a group', () => {
  test('passes', () => {})
  test('fails', () => expect([1, 2]).toEqual([1, 3]))
})
test('a property', () => fc.assert(fc.property(fc.nat(), () => false), { seed: 1 }))
`,
      'broken.test.ts': "import './nowhere.ts'\n",
    },
    'vitest',
    ['run', '--reporter=json', '--outputFile.json=report.json'],
  )
  const { passed, failures, tests } = vitestResults(report)
  expect(passed).toBe(1)
  expect(tests.map(({ file, title }) => [path.basename(file), title])).toEqual([
    ['some.test.ts', 'a group passes'],
    ['some.test.ts', 'a group fails'],
    ['some.test.ts', 'a property'],
  ])
  for (const { milliseconds } of tests) expect(milliseconds).toBeGreaterThan(0)
  expect(failures.map(({ file, title, reason }) => [path.basename(file), title, reason]).toSorted()).toEqual([
    ['broken.test.ts', 'the file', expect.stringContaining('./nowhere.ts')],
    ['some.test.ts', 'a group fails', 'AssertionError: expected [ 1, 2 ] to deeply equal [ 1, 3 ]'],
    ['some.test.ts', 'a property', expect.stringMatching(/^Error: Property failed.*\n.*seed: 1.*\nCounterexample: /)],
  ])
})

test('the Playwright report names failed tests, and a test that passed only on a retry has failed', () => {
  const report = reportOf(
    {
      'playwright.config.ts': "export default { outputDir: 'results', retries: 1, reporter: [['json']] }\n",
      'some.spec.ts': `import { expect, test } from '@playwright/test'
test('passes', () => {})
test.describe('a group', () => {
  test('is unsteady', ({}, { retry }) => expect(retry).toBe(1))
  test('fails twice', () => {
    expect.soft(1).toBe(2)
    expect.soft('a').toBe('b')
  })
})
`,
      'broken.spec.ts': "throw new Error('not today')\n",
    },
    'playwright',
    ['test', '--config', 'playwright.config.ts', 'some'],
  )
  const took = expect.any(Number)
  const file = path.join(folder, 'some.spec.ts')
  expect(playwrightResults(report)).toEqual({
    passed: 1,
    tests: [
      { file, title: 'passes', milliseconds: took },
      { file, title: 'a group › is unsteady', milliseconds: took },
      { file, title: 'a group › fails twice', milliseconds: took },
    ],
    failures: [
      { file, title: 'a group › is unsteady', reason: expect.stringMatching(/^Error: expect/) },
      { file, title: 'a group › fails twice', reason: expect.stringMatching(/Expected: 2\n.*Expected: "b"/s) },
    ],
  })
  const broken = reportOf({}, 'playwright', ['test', '--config', 'playwright.config.ts', 'broken'])
  expect(playwrightResults(broken).failures).toContainEqual({
    file: 'e2e',
    title: 'the run',
    reason: 'Error: not today',
  })
})

test('slowestTests lists the slowest tests first, and at most the requested number', () => {
  const tests = [
    { file: 'a.test.ts', title: 'quick', milliseconds: 3 },
    { file: 'b.spec.ts', title: 'slow', milliseconds: 12_340 },
    { file: 'a.test.ts', title: 'middling', milliseconds: 450 },
  ]
  expect(slowestTests(tests, 2)).toEqual(['  12.3 s  b.spec.ts: slow', '   0.5 s  a.test.ts: middling'])
})

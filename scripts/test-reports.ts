/** Reads the reports of vitest and Playwright (their JSON reporters): what passed, what failed, how long each test took. */
import path from 'node:path'

export interface Failure {
  /** The whole path, where one file failed. */
  readonly file: string
  /** With the groups that it is in. */
  readonly title: string
  /** How what was wrong begins: enough lines to hold the case that a property failed with. */
  readonly reason: string
}

export interface TimedTest {
  readonly file: string
  /** With the groups that it is in. */
  readonly title: string
  readonly milliseconds: number
}

export interface TestResults {
  readonly passed: number
  readonly failures: readonly Failure[]
  readonly tests: readonly TimedTest[]
}

export interface VitestReport {
  readonly numPassedTests: number
  readonly testResults: readonly {
    /** The whole path of the file. */
    readonly name: string
    readonly status: string
    /** Why the file itself could not be run. */
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      /** Milliseconds; absent for a test that did not run. */
      readonly duration?: number | null
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

export function vitestResults({ numPassedTests, testResults }: VitestReport): TestResults {
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults
      .filter((result) => result.status === 'failed')
      .map(({ fullName, failureMessages: [first = ''] }) => ({
        file: name,
        title: fullName,
        reason: beginning(first),
      }))
    const isBroken = status === 'failed' && failed.length === 0
    return isBroken ? [{ file: name, title: 'the file', reason: beginning(message) }] : failed
  })
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, duration }) => ({ file: name, title: fullName, milliseconds: duration ?? 0 })),
  )
  return { passed: numPassedTests, failures, tests }
}

interface PlaywrightSuite {
  readonly title: string
  readonly suites?: readonly PlaywrightSuite[]
  readonly specs: readonly {
    readonly title: string
    readonly file: string
    readonly tests: readonly {
      readonly status: string
      readonly results: readonly {
        readonly duration: number
        /** Of a test that ran out of time: that it did, then what it waited for. */
        readonly errors: readonly { readonly message?: string }[]
      }[]
    }[]
  }[]
}

export interface PlaywrightReport {
  readonly config: { readonly rootDir: string }
  readonly stats: { readonly expected: number }
  readonly suites: readonly PlaywrightSuite[]
  /** What was wrong outside of every test. */
  readonly errors: readonly { readonly message?: string }[]
}

/** A test that passed only when tried again has failed. */
export function playwrightResults({ config, stats, suites, errors }: PlaywrightReport): TestResults {
  const specs = suites
    .flatMap((file) => specsIn(file, []))
    .map((spec) => ({ ...spec, file: path.join(config.rootDir, spec.file) }))
  const failed = specs.filter(({ status }) => status === 'unexpected' || status === 'flaky')
  return {
    passed: stats.expected,
    failures: [
      ...failed.map(({ file, title, results }) => ({
        file,
        title,
        reason: (results.find(({ errors }) => errors.length > 0)?.errors ?? [])
          .map(({ message = '' }) => beginning(message))
          .join('\n'),
      })),
      ...errors.map(({ message = '' }) => ({ file: 'e2e', title: 'the run', reason: beginning(message) })),
    ],
    tests: specs.map(({ file, title, results }) => ({
      file,
      title,
      milliseconds: results.reduce((sum, { duration }) => sum + duration, 0),
    })),
  }
}

type Spec = PlaywrightSuite['specs'][number]['tests'][number] & { readonly file: string; readonly title: string }

function specsIn({ suites = [], specs }: PlaywrightSuite, groups: readonly string[]): Spec[] {
  const own = specs.flatMap(({ title, file, tests }) =>
    tests.map((test) => ({ ...test, file, title: [...groups, title].join(' › ') })),
  )
  return [...own, ...suites.flatMap((suite) => specsIn(suite, [...groups, suite.title]))]
}

/** The `count` tests that took longest, slowest first, one line each. */
export const slowestTests = (tests: readonly TimedTest[], count: number): string[] =>
  tests
    .toSorted((a, b) => b.milliseconds - a.milliseconds)
    .slice(0, count)
    .map(({ file, title, milliseconds }) => `${(milliseconds / 1000).toFixed(1).padStart(6)} s  ${file}: ${title}`)

const LINES = 4

function beginning(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape begins a colour of the terminal.
  const lines = text.replaceAll(/\u001b\[[\d;]*m/g, '').split('\n')
  const stack = lines.findIndex((line) => /^ {4}at /.test(line))
  return lines
    .slice(0, stack === -1 ? undefined : stack)
    .filter((line) => line.trim() !== '')
    .slice(0, LINES)
    .join('\n')
}

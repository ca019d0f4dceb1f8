/** Reads the reports of Vitest and Playwright (their JSON reporters): passed and failed tests, and the time of each. */
import path from 'node:path'

/** A failed test, or a file that could not run. */
export interface Failure {
  /** The absolute path of the failed file, or the name of the program. */
  readonly file: string
  /** The title of the test, after those of its groups. */
  readonly title: string
  /** The beginning of the message: enough lines for the failing case of a property. */
  readonly reason: string
}

/** A test with its duration. */
export interface TimedTest {
  readonly file: string
  /** The title of the test, after those of its groups. */
  readonly title: string
  readonly milliseconds: number
}

/** The results of one gate. */
export interface TestResults {
  readonly passed: number
  readonly failures: readonly Failure[]
  readonly tests: readonly TimedTest[]
}

/** The JSON report of Vitest, as far as it is read. */
export interface VitestReport {
  readonly numPassedTests: number
  readonly testResults: readonly {
    /** The absolute path of the file. */
    readonly name: string
    readonly status: string
    /** The reason why the file could not run. */
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      /** Milliseconds; omitted for a test that did not run. */
      readonly duration?: number | null
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

/** Returns the results of a Vitest report. */
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
        /** A timeout has two errors: the timeout itself, then the action that it interrupted. */
        readonly errors: readonly { readonly message?: string }[]
      }[]
    }[]
  }[]
}

/** The JSON report of Playwright, as far as it is read. */
export interface PlaywrightReport {
  readonly config: { readonly rootDir: string }
  readonly stats: { readonly expected: number }
  readonly suites: readonly PlaywrightSuite[]
  /** Errors outside of tests. */
  readonly errors: readonly { readonly message?: string }[]
}

/** Returns the results of a Playwright report. A test that passed only on a retry counts as failed. */
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

/** Returns the `count` slowest tests, slowest first, as one line each. */
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

/** What the reports of vitest and Playwright (their JSON reporters) say passed and failed. */

export interface Failure {
  readonly file: string
  /** With the groups that it is in. */
  readonly title: string
  /** How what was wrong begins: enough lines to hold the case that a property failed with. */
  readonly reason: string
}

export interface TestResults {
  readonly passed: number
  readonly failures: readonly Failure[]
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
  return { passed: numPassedTests, failures }
}

interface PlaywrightSuite {
  readonly title: string
  readonly suites?: readonly PlaywrightSuite[]
  readonly specs: readonly {
    readonly title: string
    readonly file: string
    readonly tests: readonly {
      readonly status: string
      readonly results: readonly { readonly error?: { readonly message?: string } }[]
    }[]
  }[]
}

export interface PlaywrightReport {
  readonly stats: { readonly expected: number }
  readonly suites: readonly PlaywrightSuite[]
  /** What was wrong outside of every test. */
  readonly errors: readonly { readonly message?: string }[]
}

/** A test that passed only when tried again has failed. */
export function playwrightResults({ stats, suites, errors }: PlaywrightReport): TestResults {
  return {
    passed: stats.expected,
    failures: [
      ...suites.flatMap((file) => suiteFailures(file, [])),
      ...errors.map(({ message = '' }) => ({ file: 'e2e', title: 'the run', reason: beginning(message) })),
    ],
  }
}

function suiteFailures({ suites = [], specs }: PlaywrightSuite, groups: readonly string[]): Failure[] {
  const own = specs.flatMap(({ title, file, tests }) =>
    tests
      .filter(({ status }) => status === 'unexpected' || status === 'flaky')
      .map(({ results }) => ({
        file,
        title: [...groups, title].join(' › '),
        reason: beginning(results.find(({ error }) => error)?.error?.message ?? ''),
      })),
  )
  return [...own, ...suites.flatMap((suite) => suiteFailures(suite, [...groups, suite.title]))]
}

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

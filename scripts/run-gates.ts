/** Runs gates at the same time, except where one needs another to pass first. */
import { spawn } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import type { TestResults } from './test-reports.ts'

/** A check of the project, run as a command. */
export interface Gate {
  readonly name: string
  readonly command: readonly string[]
  /** The gate that must pass first. */
  readonly after?: string
  /** True for a low priority: the gates that wait for a browser or for the build determine the total time. */
  readonly yields?: boolean
  /** Reads the report of the gate; undefined if there is none. A gate without this function counts as one check. */
  readonly results?: () => TestResults | undefined
  readonly environment?: Readonly<Record<string, string>>
}

/** A third of the processor time of another gate. With less, a test of a second waited for longer than its limit of 90 s. */
const YIELDING_PRIORITY = 5

/** Starts each gate as soon as the gate before it has passed. Returns one result for each gate. */
export async function runGates(gates: readonly Gate[]): Promise<TestResults[]> {
  const runs = new Map<string, Promise<TestResults>>()
  for (const gate of gates)
    runs.set(gate.name, runAfter(gate, gate.after === undefined ? undefined : runs.get(gate.after)))
  return Promise.all(runs.values())
}

async function runAfter(gate: Gate, earlier: Promise<TestResults> | undefined): Promise<TestResults> {
  if (((await earlier)?.failures.length ?? 0) === 0) return run(gate)
  return failedResults(gate, `not started, because ${gate.after} failed`)
}

async function run(gate: Gate): Promise<TestResults> {
  const {
    name,
    command: [program = '', ...parameters],
    yields = false,
    results,
    environment,
  } = gate
  console.log(`=== ${name}: started`)
  const started = performance.now()
  const child = spawn(program, parameters, {
    env: {
      ...process.env,
      PATH: `${path.resolve('node_modules', '.bin')}${path.delimiter}${process.env.PATH}`,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (yields && child.pid !== undefined) os.setPriority(child.pid, YIELDING_PRIORITY)
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk))
  const status = await new Promise<number | string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  // Gates run at the same time: the output of each is printed in one piece.
  console.log(`\n=== ${name}: ${program} ${parameters.join(' ')}\n${Buffer.concat(output)}`)
  console.log(`=== ${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s\n`)
  const { passed, failures, tests } = results?.() ?? { passed: 0, failures: [], tests: [] }
  if (status === 0) return { passed: passed + 1, failures, tests }
  // A gate that ended with an error but without failed tests has failed too.
  return failures.length > 0
    ? { passed, failures, tests }
    : { ...failedResults(gate, `ended with ${status}; its output is above`), passed, tests }
}

const failedResults = ({ name, command: [file = ''] }: Gate, reason: string): TestResults => ({
  passed: 0,
  failures: [{ file, title: name, reason }],
  tests: [],
})

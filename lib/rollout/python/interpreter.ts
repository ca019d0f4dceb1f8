/** One Python interpreter in a guarded process of its own (guest/guard.ts), which can be killed at any time. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import * as z from 'zod'
import {
  type CutText,
  type ExecutionResult,
  type FromGuest,
  LONGEST_LINE,
  MOST_BYTES,
  type ToGuest,
} from './protocol.ts'

/** A running interpreter. Its variables persist between calls. */
export interface Interpreter {
  /**
   * Runs code; one call at a time. Rejects with InterpreterError, and ends the process, if the answer is invalid or does not
   * arrive.
   */
  run(code: string): Promise<ExecutionResult>
  /** Returns the output of the last call, also if the call has not ended or never ends. */
  printed(): CutText
  /** Returns how many calls it has run. */
  calls(): number
  isOver(): boolean
  /** Kills the process at any time. */
  end(): void
}

/** The process could not start, ended, or sent an invalid message. */
export class InterpreterError extends Error {
  override readonly name = 'InterpreterError'
}

/** The files and folders of an interpreter. */
export interface InterpreterPlace {
  /** The program of Node: 24 or later. */
  readonly node: string
  /** The folder of package.json, where Node reads the type of the modules. */
  readonly applicationFolder: string
  readonly pyodideFolder: string
  /** The working directory of the process: an empty folder, which it cannot read. */
  readonly emptyFolder: string
  /** The snapshot of Python's memory; see snapshot.ts. */
  readonly snapshotFile: string
  /** The file that the process runs. */
  readonly guestFile: string
}

/** A start takes half a second, and several times that on a busy machine. */
const LONGEST_START_MS = 60_000

/** Megabytes of JavaScript objects. The guard limits Python's own memory. */
const JAVASCRIPT_MEGABYTES = 256

/** Starts an interpreter. Rejects with InterpreterError. Aborting the signal ends it while it starts. */
export async function startInterpreter(place: InterpreterPlace, signal?: AbortSignal): Promise<Interpreter> {
  const child = spawn(place.node, guestParameters(place), {
    cwd: place.emptyFolder,
    env: NO_ENVIRONMENT,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const channel = openChannel(child)
  endWithApplication(child)
  const stop = () => channel.fail('the interpreter was stopped while it started')
  const timer = setTimeout(
    () => channel.fail(`the interpreter did not start within ${LONGEST_START_MS / 1000} s`),
    LONGEST_START_MS,
  )
  signal?.addEventListener('abort', stop)
  try {
    const first = await channel.next()
    if (first.type !== 'ready') throw channel.fail(MISFIT)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
  let number = 0
  return {
    async run(code) {
      const answer = channel.next()
      channel.send({ number: ++number, code })
      const ran = await answer
      if (ran.type !== 'ran' || ran.number !== number) throw channel.fail(MISFIT)
      return { ...ran, printed: channel.printed() }
    },
    printed: channel.printed,
    calls: () => number,
    isOver: channel.isOver,
    end: () => void channel.fail('it was ended'),
  }
}

/**
 * Starts a shell that kills the interpreter after the application: a killed application closes its pipes, and the shell waits
 * for that. The guest checks for its parent itself, but not within one long operation, such as a sum over a range or a sleep.
 * On Windows, which has no such shell, only the guest's check applies.
 */
function endWithApplication(child: ChildProcess): void {
  if (child.pid === undefined || process.platform === 'win32') return
  const minder = spawn('/bin/sh', ['-c', 'trap "" INT HUP TERM; read -r _; kill -9 "$0"', String(child.pid)], {
    env: NO_ENVIRONMENT,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  minder.on('error', () => {})
  minder.stdin.on('error', () => {})
  // Otherwise it could later kill another process with the same id.
  child.once('exit', () => minder.kill('SIGKILL'))
}

const NO_ENVIRONMENT = {} as NodeJS.ProcessEnv
const MISFIT = 'the interpreter wrote an unexpected message'

/** Returns Node’s parameters, including the walls that are flags, then the guest and its own. */
export function guestParameters({
  applicationFolder,
  pyodideFolder,
  snapshotFile,
  guestFile,
}: InterpreterPlace): readonly string[] {
  const readable = [
    `${path.dirname(path.dirname(guestFile))}${path.sep}`,
    `${pyodideFolder}${path.sep}`,
    path.join(applicationFolder, 'package.json'),
    snapshotFile,
  ]
  return [
    '--permission',
    ...readable.map((name) => `--allow-fs-read=${name}`),
    '--disallow-code-generation-from-strings',
    `--max-old-space-size=${JAVASCRIPT_MEGABYTES}`,
    guestFile,
    pyodideFolder,
    snapshotFile,
  ]
}

const cut = z.object({ text: z.string(), wholeBytes: z.int().exactOptional() })
const fromGuest = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('failed'), why: z.string() }),
  z.object({ type: z.literal('printed'), text: z.string(), bytes: z.int() }),
  z.object({
    type: z.literal('ran'),
    number: z.int(),
    value: cut.exactOptional(),
    error: cut.exactOptional(),
  }),
]) satisfies z.ZodType<FromGuest>

/** Opens a channel of lines in both directions. The first error ends the process, and every later wait rejects with it. */
function openChannel(child: ChildProcessByStdio<Writable, Readable, Readable>) {
  let waiting: PromiseWithResolvers<Extract<FromGuest, { type: 'ready' | 'ran' }>> | undefined
  let failure: InterpreterError | undefined
  let chunks: Buffer[] = []
  let size = 0
  let complaint = ''
  let printed: CutText = { text: '' }
  const fail = (why: string): InterpreterError => {
    if (failure) return failure
    failure = new InterpreterError(why)
    child.kill('SIGKILL')
    chunks = []
    waiting?.reject(failure)
    return failure
  }
  const take = (line: Buffer, isLast: boolean) => {
    const message = readMessage(line)
    if (!message || !waiting) fail(MISFIT)
    else if (message.type === 'failed') fail(message.why)
    else if (message.type === 'printed') {
      const { text, bytes } = message
      printed = { text: printed.text + text, ...(bytes > MOST_BYTES && { wholeBytes: bytes }) }
      if (printed.text.length > MOST_BYTES) fail(MISFIT)
      // Each request has one answer, and nothing may follow it.
    } else if (!isLast) fail(MISFIT)
    else {
      const { resolve } = waiting
      waiting = undefined
      resolve(message)
    }
  }
  child.stdout.on('data', (chunk: Buffer) => {
    for (let rest = chunk; !failure && rest.length > 0; ) {
      const end = rest.indexOf('\n')
      const part = end < 0 ? rest : rest.subarray(0, end)
      size += part.length
      if (size > LONGEST_LINE) fail(MISFIT)
      else chunks.push(part)
      if (end < 0) return
      const line = Buffer.concat(chunks)
      chunks = []
      size = 0
      rest = rest.subarray(end + 1)
      take(line, rest.length === 0)
    }
  })
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk.toString('utf8')}`.slice(-LONGEST_COMPLAINT)
  })
  child.stdin.on('error', () => {})
  child.on('error', (error) => fail(error.message))
  child.on('close', (status, by) => fail(endText(status, by, complaint)))
  return {
    next() {
      printed = { text: '' }
      if (failure) return Promise.reject(failure)
      waiting = Promise.withResolvers()
      return waiting.promise
    },
    send: (message: ToGuest) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    printed: () => printed,
    fail,
    isOver: () => failure !== undefined,
  }
}

const LONGEST_COMPLAINT = 4_000

function readMessage(line: Buffer): FromGuest | undefined {
  try {
    return fromGuest.parse(JSON.parse(line.toString('utf8')))
  } catch {
    return undefined
  }
}

/** Returns why the process ended. The last error line of Node names the cause, for example a full heap. */
function endText(status: number | null, by: string | null, complaint: string): string {
  const how = by === null ? `with status ${status}` : `by ${by}`
  const last = complaint
    .trim()
    .split('\n')
    .findLast((line) => /error|refused|bad option/i.test(line))
  return `it ended ${how}${last === undefined ? '' : `: ${last.trim()}`}`
}

/** `rollscope run`: runs a program whose calls of a model are recorded in a session, and prints what the session contains. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import os from 'node:os'
import * as z from 'zod'
import { type SessionRow, sessionCreatedSchema, sessionSchema } from '#lib/api/sessions/session.ts'
import { directFetch } from '#lib/engine/http/checked-connector.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { failureText, refusalReason } from './application-problem.ts'
import type { CommandEnvironment, RunningApplication } from './environment.ts'
import { CommandError, EXIT } from './exit.ts'
import { startedApplication } from './started-application.ts'

const HELP = `rollscope run [--server NAME] [--mode tito|observe] -- COMMAND…

Runs COMMAND with the address of a new session in place of the API of a model. It sets OPENAI_BASE_URL, OPENAI_API_KEY,
ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY. A Rollscope that already runs on the same data folder (ROLLSCOPE_DATA) records the
calls; otherwise the command starts one, which ends with COMMAND.

  --server NAME   a saved server; default: the server of SGLANG_BASE_URL, otherwise the built-in model
  --mode MODE     tito (default): the server gets token ids; observe: calls go on unchanged

Exit status: that of COMMAND, as a shell reports it: 126 COMMAND is not executable, 127 COMMAND was not found, 128 + N
signal N ended it. 2 invalid command, 3 no session could be opened.
`

/** Runs `rollscope run` and returns the exit status of the program. Throws CommandError. */
export async function runCommand(argumentList: readonly string[], around: CommandEnvironment): Promise<number> {
  const end = argumentList.indexOf('--')
  const options = end < 0 ? argumentList : argumentList.slice(0, end)
  if (options.includes('--help') || options.includes('-h')) {
    around.print(HELP)
    return EXIT.well
  }
  const [program, ...programArguments] = end < 0 ? [] : argumentList.slice(end + 1)
  if (program === undefined) throw new CommandError(EXIT.usage, `rollscope run requires -- and a COMMAND\n\n${HELP}`)
  const settings = settingsIn(options)
  // An application in this process changes its variables.
  const environment = { ...process.env }
  const [present] = around.running()
  const application = present ?? (await startedApplication(around))
  try {
    const id = await createSession(application, settings)
    const session = `${application.address}/sessions/${id}`
    around.complain(`Session ${id}: ${session}?token=${application.token}\n`)
    const { status, isStarted } = await runProgram(program, programArguments, around, {
      ...environment,
      OPENAI_BASE_URL: `${session}/v1`,
      OPENAI_API_KEY: application.token,
      ANTHROPIC_BASE_URL: session,
      ANTHROPIC_API_KEY: application.token,
    })
    await summarize(application, id, { complain: isStarted ? around.complain : () => {} })
    return status
  } finally {
    if (!present) around.stop()
  }
}

/** Exit statuses of shells for programs that cannot be started. */
const [NOT_EXECUTABLE, NOT_FOUND] = [126, 127]

function settingsIn(options: readonly string[]): Readonly<Record<string, string>> {
  const settings: Record<string, string> = {}
  for (let at = 0; at < options.length; at += 2) {
    const [name = '', value] = options.slice(at, at + 2)
    if (name !== '--server' && name !== '--mode')
      throw new CommandError(EXIT.usage, `rollscope run has no option ${name}: run rollscope run --help`)
    if (value === undefined) throw new CommandError(EXIT.usage, `${name} requires a value`)
    settings[name.slice(2)] = value
  }
  return settings
}

async function call<T>(
  { address, token }: RunningApplication,
  path: string,
  init: RequestInit,
  schema: z.core.$ZodType<T>,
): Promise<T> {
  try {
    const response = await directFetch(new URL(path, address), {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
    const answer: unknown = response.status === 204 ? null : await response.json()
    if (response.ok) return z.parse(schema, answer)
    throw new CommandError(EXIT.unchecked, `no session: ${refusalReason(answer)}`)
  } catch (error) {
    if (error instanceof CommandError || !(error instanceof Error)) throw error
    throw new CommandError(EXIT.unchecked, `no session: ${failureText(error)}`, { cause: error })
  }
}

async function createSession(application: RunningApplication, settings: object): Promise<string> {
  const init = { method: 'POST', body: JSON.stringify(settings) }
  return (await call(application, '/sessions', init, sessionCreatedSchema)).session_id
}

/** Prints what a session contains. One without a call is removed. A failure is printed, because the program has its own status. */
async function summarize(
  application: RunningApplication,
  id: string,
  { complain }: Pick<CommandEnvironment, 'complain'>,
): Promise<void> {
  try {
    const { session } = await call(application, `/api/sessions/${id}`, {}, sessionSchema)
    if (session.calls > 0) return complain(summaryText(session))
    await call(application, `/sessions/${id}`, { method: 'DELETE' }, z.null())
    complain(NO_CALL)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    complain(`${error.message}\n`)
  }
}

const NO_CALL = `No call of a model was recorded, so the session was removed.
  Does the program read OPENAI_BASE_URL or ANTHROPIC_BASE_URL? Is the recording paused on the page Sessions?
`

interface ProgramEnd {
  /** Exit status as a shell reports it. */
  readonly status: number
  readonly isStarted: boolean
}

/** Runs a program on this terminal, in the folder of the caller: an application in this process has changed to its own. */
async function runProgram(
  program: string,
  programArguments: readonly string[],
  { complain, folder }: Pick<CommandEnvironment, 'complain' | 'folder'>,
  variables: NodeJS.ProcessEnv,
): Promise<ProgramEnd> {
  const child = spawn(program, [...programArguments], { stdio: 'inherit', cwd: folder, env: variables })
  // A terminal sends SIGINT to both. The program decides when it ends.
  const ignore = () => {}
  const pass = () => child.kill('SIGTERM')
  process.on('SIGINT', ignore).on('SIGTERM', pass)
  try {
    const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return { status: status ?? 128 + (signal === null ? 0 : os.constants.signals[signal]), isStarted: true }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    complain(`${program} cannot be started: ${code === 'ENOENT' ? 'there is no such program' : message}\n`)
    return { status: code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE, isStarted: false }
  } finally {
    process.off('SIGINT', ignore).off('SIGTERM', pass)
  }
}

function summaryText({
  id,
  calls,
  failedCalls,
  tokens,
  leaves,
  drifts,
  malformedCalls,
  truncated,
}: SessionRow): string {
  const parts = [
    countWithNoun(calls, 'call'),
    ...(failedCalls > 0 ? [`${failedCalls} failed`] : []),
    countWithNoun(tokens, 'token'),
    countWithNoun(leaves, 'leaf', 'leaves'),
    ...(drifts > 0 ? [`drift in ${countWithNoun(drifts, 'call')}`] : []),
    ...(malformedCalls > 0 ? [countWithNoun(malformedCalls, 'malformed tool call')] : []),
    ...(truncated > 0 ? [`${truncated} truncated`] : []),
  ]
  return `Session ${id}: ${parts.join(', ')}\n`
}

import { setTimeout as pause } from 'node:timers/promises'
import type { CommandEnvironment, RunningApplication } from './environment.ts'
import { CommandError, EXIT } from './exit.ts'

/** Milliseconds between two looks whether the application listens. */
const LOOK_MS = 50
/** Milliseconds after which an application that has been started must listen. */
const LISTENS_WITHIN_MS = 60_000

/** Starts the application in this process, and waits until it listens. Throws CommandError if it does not. */
export async function startedApplication({ start, running }: CommandEnvironment): Promise<RunningApplication> {
  await start()
  for (let waited = 0; waited < LISTENS_WITHIN_MS; waited += LOOK_MS) {
    const [application] = running()
    if (application) return application
    await pause(LOOK_MS)
  }
  throw new CommandError(EXIT.unchecked, `the application did not start within ${LISTENS_WITHIN_MS / 1000} s`)
}

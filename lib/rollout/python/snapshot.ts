/**
 * A file with Python’s memory right after its start. A process that runs no foreign code makes it once; interpreters start
 * from it in a fifth of the CPU time (docs/decisions/0033).
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { guestParameters, InterpreterError, type InterpreterPlace } from './interpreter.ts'

/** Returns the file of the snapshot for this Pyodide and this guest: another version has another file. */
export function snapshotFileIn(
  folder: string,
  { pyodideFolder, guestFile }: Omit<InterpreterPlace, 'snapshotFile'>,
): string {
  const hash = createHash('sha256').update(pyodideFolder)
  // The mark excludes the files from the bundler's tracing. Without it, the build reports that it includes the whole folder.
  for (const file of [path.join(pyodideFolder, 'package.json'), path.join(path.dirname(guestFile), 'python.ts')])
    hash.update(readFileSync(/*turbopackIgnore: true*/ file))
  return path.join(folder, `${hash.digest('hex').slice(0, 16)}${ENDING}`)
}

/** Creates the snapshot if it does not exist, and deletes those of other versions. Rejects with InterpreterError. */
export async function keepSnapshot(place: InterpreterPlace): Promise<void> {
  const { snapshotFile } = place
  if (existsSync(snapshotFile)) return
  const folder = path.dirname(snapshotFile)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const temporaryFile = `${snapshotFile}.${crypto.randomUUID()}`
  writeFileSync(temporaryFile, await makeSnapshot(place))
  for (const name of readdirSync(folder)) if (name.endsWith(ENDING)) rmSync(path.join(folder, name), { force: true })
  renameSync(temporaryFile, snapshotFile)
}

const ENDING = '.snapshot'
/** Creating it takes two seconds, and many times that on a busy machine. */
const LONGEST_MS = 180_000

async function makeSnapshot(place: InterpreterPlace): Promise<Buffer> {
  const guestFile = path.join(path.dirname(place.guestFile), 'make-snapshot.ts')
  const child = spawn(place.node, guestParameters({ ...place, guestFile }), {
    cwd: place.emptyFolder,
    env: {} as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  })
  try {
    const [bytes, complaint, [status, by]] = await Promise.all([
      buffer(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    if (status === 0) return bytes
    if (by === 'SIGKILL' && child.killed) throw new Error(`its snapshot took longer than ${LONGEST_MS / 1000} s`)
    throw new Error(
      `it ended ${by === null ? `with status ${status}` : `by ${by}`}${complaint && `: ${complaint.trim()}`}`,
    )
  } catch (error) {
    throw new InterpreterError((error as Error).message)
  }
}

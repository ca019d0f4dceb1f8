/** Starts Pyodide in this process and runs pieces of code in one interpreter. */
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PyodideAPI, PyodideConfig } from 'pyodide'
import { type CodeResult, type CutText, MOST_BYTES } from '../protocol.ts'
import { printedTo } from './printed.ts'

interface PythonStart {
  readonly pyodideFolder: URL
  /** File with the result of makeSnapshot(). */
  readonly snapshotFile: string
  /** Called with printed text soon after it is printed. */
  readonly onPrinted: (text: string, bytes: number) => void
  /** Called regularly while Python runs. */
  readonly onLook: () => void
}

/** Number of ticks between two calls of onLook. */
const LOOKS = 1_000

/** Starts Python from the snapshot. Returns a function that runs a piece of code; `number` names it in tracebacks. */
export async function startPython({ pyodideFolder, snapshotFile, onPrinted, onLook }: PythonStart) {
  const session = fs.readFileSync(new URL('session.py', import.meta.url), 'utf8')
  const pyodide = await load(pyodideFolder, { _loadSnapshot: fs.readFileSync(snapshotFile) })
  const printed = printedTo(onPrinted)
  pyodide.setStdin({ stdin: () => null })
  pyodide.setStdout({ write: printed.add })
  pyodide.setStderr({ write: printed.add })
  const run = pyodide.runPython(session, { filename: 'session.py' }) as (code: string, number: number) => unknown
  let ticks = 0
  const tick = () => {
    if (++ticks % LOOKS !== 0) return
    printed.flush()
    onLook()
  }
  pyodide.setInterruptBuffer(ticking(tick))
  return (code: string, number: number): CodeResult => {
    const { value, error } = JSON.parse(run(code, number) as string) as { readonly value?: string; error?: string }
    printed.end()
    return {
      ...(typeof value === 'string' && { value: cut(Buffer.from(value)) }),
      ...(typeof error === 'string' && { error: cut(Buffer.from(error)) }),
    }
  }
}

/** Returns Python's memory right after its start. A start from it takes a fifth of the time. */
export async function makeSnapshot(pyodideFolder: URL): Promise<Uint8Array> {
  // This internal interface of Pyodide is safe to use because package-lock.json fixes the version.
  const pyodide = (await load(pyodideFolder, { _makeSnapshot: true })) as PyodideAPI & {
    makeMemorySnapshot(): Uint8Array
  }
  return pyodide.makeMemorySnapshot()
}

async function load(pyodideFolder: URL, more: PyodideConfig): Promise<PyodideAPI> {
  const { info } = JSON.parse(fs.readFileSync(new URL('pyodide-lock.json', pyodideFolder), 'utf8'))
  const { loadPyodide } = (await import(new URL('pyodide.mjs', pyodideFolder).href)) as typeof import('pyodide')
  return loadPyodide({
    indexURL: fileURLToPath(pyodideFolder),
    // Only the standard library is available: no package is searched for.
    lockFileContents: JSON.stringify({ info, packages: {} }),
    jsglobals: Object.freeze(Object.create(null)),
    // The fixed seed gives sets the same order in every run of the same code.
    env: { HOME: '/home/python', PYTHONHASHSEED: '0' },
    ...more,
  })
}

/** Cuts a text at the limit, at the boundary of a character. */
function cut(whole: Buffer): CutText {
  if (whole.length <= MOST_BYTES) return { text: whole.toString('utf8') }
  let end = MOST_BYTES
  while (((whole[end] ?? 0) & 0xc0) === 0x80) end--
  return { text: whole.toString('utf8', 0, end), wholeBytes: whole.length }
}

/**
 * Returns an interrupt buffer that calls `onTick`. Python reads its first number every few instructions, also in an endless
 * loop.
 */
const ticking = (onTick: () => void): Uint8Array =>
  ({
    get 0() {
      onTick()
      return 0
    },
    set 0(_) {},
  }) as unknown as Uint8Array

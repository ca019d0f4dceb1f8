/** Python in this process: starts Pyodide, and runs one piece of code after another in the same interpreter. */
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PyodideAPI, PyodideConfig } from 'pyodide'
import { type Answer, type Cut, MOST_BYTES } from '../protocol.ts'
import { printedTo } from './printed.ts'

interface PythonStart {
  readonly pyodideFolder: URL
  /** What makeSnapshot() gave. */
  readonly snapshotFile: string
  /** Called with what is printed, soon after it is. */
  readonly onPrinted: (text: string, bytes: number) => void
  /** Called now and then while Python runs. */
  readonly onLook: () => void
}

/** Ticks between two looks. */
const LOOKS = 1_000

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
  return (code: string, number: number): Answer => {
    const { value, error } = JSON.parse(run(code, number) as string) as { readonly value?: string; error?: string }
    printed.end()
    return {
      ...(typeof value === 'string' && { value: cut(Buffer.from(value)) }),
      ...(typeof error === 'string' && { error: cut(Buffer.from(error)) }),
    }
  }
}

/** Python's memory when it has just started: from there it is up in a fifth of the time. */
export async function makeSnapshot(pyodideFolder: URL): Promise<Uint8Array> {
  // Of the interface that Pyodide keeps for those who run it themselves; its version is fixed in package-lock.json.
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
    // The standard library alone: no package is looked for anywhere.
    lockFileContents: JSON.stringify({ info, packages: {} }),
    jsglobals: Object.freeze(Object.create(null)),
    // Sets are in the same order in every run of the same code.
    env: { HOME: '/home/python', PYTHONHASHSEED: '0' },
    ...more,
  })
}

/** Up to the limit, at the boundary of a character. */
function cut(whole: Buffer): Cut {
  if (whole.length <= MOST_BYTES) return { text: whole.toString('utf8') }
  let end = MOST_BYTES
  while (((whole[end] ?? 0) & 0xc0) === 0x80) end--
  return { text: whole.toString('utf8', 0, end), wholeBytes: whole.length }
}

/** Python looks at the first number of this buffer every few instructions: the one place that an endless loop passes. */
const ticking = (onTick: () => void): Uint8Array =>
  ({
    get 0() {
      onTick()
      return 0
    },
    set 0(_) {},
  }) as unknown as Uint8Array

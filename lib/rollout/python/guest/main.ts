/**
 * The process of one interpreter. It closes itself, starts Python, reports that, and answers each line until its input ends.
 * Reading blocks, so nothing runs here between two calls.
 */
import { pathToFileURL } from 'node:url'
import type { FromGuest, ToGuest } from '../protocol.ts'
import { closeNode, closePyodide } from './guard.ts'
import { startPython } from './python.ts'
import { inputLines, writeWhole } from './standard-streams.ts'

// The guard replaces the global `process` by a stand-in. It is not imported, because that would open non-blocking standard
// streams.
const node = process

try {
  const [, , folder, snapshotFile = ''] = node.argv
  const pyodideFolder = pathToFileURL(`${folder}/`)
  closeNode(pyodideFolder)
  const run = await startPython({
    pyodideFolder,
    snapshotFile,
    onPrinted: (text, bytes) => say({ type: 'printed', text, bytes }),
    onLook: endWithParent(),
  })
  closePyodide()
  say({ type: 'ready' })
  for (const line of inputLines()) {
    const { number, code } = JSON.parse(line) as ToGuest
    say({ type: 'ran', number, ...run(code, number) })
  }
} catch (error) {
  say({ type: 'failed', why: String(error) })
}
node.exit()

function say(message: FromGuest): void {
  writeWhole(Buffer.from(`${JSON.stringify(message)}\n`))
}

/** Ends the process if the application was killed, also within an endless loop. */
function endWithParent(): () => void {
  const parent = node.ppid
  return () => {
    if (node.ppid !== parent) node.exit()
  }
}

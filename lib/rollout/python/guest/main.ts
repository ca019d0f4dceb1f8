/**
 * The process of one interpreter: it closes itself, starts Python, says so, and answers line by line until its input ends.
 * Reading waits, so that between two calls nothing runs here.
 */
import { pathToFileURL } from 'node:url'
import type { FromGuest, ToGuest } from '../protocol.ts'
import { closeNode, closePyodide } from './guard.ts'
import { startPython } from './python.ts'
import { lines, writeWhole } from './standard-streams.ts'

// The guard puts a stand-in in its place. It is not imported: that would open the standard streams, which then do not wait.
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
  for (const line of lines()) {
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

/** An application that was killed takes its interpreters with it, also from within an endless loop. */
function endWithParent(): () => void {
  const parent = node.ppid
  return () => {
    if (node.ppid !== parent) node.exit()
  }
}

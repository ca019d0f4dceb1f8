/** The process that makes the snapshot: it closes itself as the others do, starts Python, writes what is in memory, and ends. */
import fs from 'node:fs'
import { pathToFileURL } from 'node:url'
import { closeNode } from './guard.ts'
import { makeSnapshot } from './python.ts'
import { writeWhole } from './standard-streams.ts'

// The guard puts a stand-in in its place.
const node = process

try {
  const pyodideFolder = pathToFileURL(`${node.argv[2]}/`)
  closeNode(pyodideFolder)
  writeWhole(await makeSnapshot(pyodideFolder))
  node.exit(0)
} catch (error) {
  fs.writeSync(2, String(error))
  node.exit(1)
}

/**
 * The process that makes the snapshot. It closes itself like the interpreters, starts Python, writes the memory to a file,
 * and ends.
 */
import fs from 'node:fs'
import { pathToFileURL } from 'node:url'
import { closeNode } from './guard.ts'
import { makeSnapshot } from './python.ts'
import { writeWhole } from './standard-streams.ts'

// The guard replaces the global `process` by a stand-in.
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

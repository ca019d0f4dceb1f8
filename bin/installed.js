/** Finds the Node that `npm install` brings. Any Node can read this file, also one that reads no TypeScript. */
import { createRequire } from 'node:module'
import path from 'node:path'

/** Returns the folder of the packaged Node. Ends the process with advice if it is not installed. */
export function packagedNode() {
  try {
    return path.dirname(createRequire(import.meta.url).resolve('node/package.json'))
  } catch {
    console.error('The packages of Rollscope are not installed. Run npm install first.')
    process.exit(3)
  }
}

/**
 * Starts the application: `npm start` (which builds the present sources if necessary) or `npm run dev`. The folder of a build also has
 * the compiled code of its earlier starts, so that this file imports the rest only when the folder is known.
 */
import { enableCompileCache } from 'node:module'
import path from 'node:path'
import { claimPresent } from './build.ts'

const development = process.argv.includes('--dev')
const build = development ? undefined : claimPresent()
if (build !== undefined) enableCompileCache(path.join(build, 'compiled-code'))
const { startServer } = await import('./server.ts')
await startServer(development, build)

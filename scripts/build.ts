/** Builds the application: always as `npm run build`, and only after a change when `npm start` asks. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { buildOfflineBundle } from './offline-bundle.ts'

const folder = path.resolve(import.meta.dirname, '..')
/** Holds a hash of what the build was made from: a pull or an edit builds again, nothing else does. */
const stamp = path.join(folder, '.next', 'rollscope-sources')

if (import.meta.main) process.exitCode = (await build('inherit')) ? 0 : 1

/** Whether there is a build of these sources now. */
export async function buildWhenNeeded(): Promise<boolean> {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash()) return true
  console.log('Building Rollscope (about half a minute, once) …')
  return build('ignore')
}

async function build(output: 'inherit' | 'ignore'): Promise<boolean> {
  const sources = sourceHash()
  await buildOfflineBundle()
  // Development's own list of the routes: one that names a route which is gone by now would fail this build.
  rmSync(path.join(folder, '.next', 'dev', 'types'), { recursive: true, force: true })
  const { status } = spawnSync(process.execPath, [path.join('node_modules', 'next', 'dist', 'bin', 'next'), 'build'], {
    cwd: folder,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    stdio: ['ignore', output, 'inherit'],
  })
  if (status === 0) writeFileSync(stamp, sources)
  return status === 0
}

function sourceHash(): string {
  const hash = createHash('sha256')
  const files = globSync(['{app,components,lib,public}/**/*', '*.{ts,json,mjs}'], {
    cwd: folder,
    withFileTypes: true,
    exclude: ({ name }) =>
      /\.test\.tsx?$/.test(name) || ['recordings', 'golden', 'built', 'next-env.d.ts'].includes(name),
  })
  for (const file of files
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort())
    hash.update(path.relative(folder, file)).update(readFileSync(file))
  return hash.digest('hex')
}

/** Builds the application if the present sources have no build yet: `npm run build`, and `npm start` before it starts. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { writeBrotliCopies } from './build/brotli-copies.ts'
import { createBuildProgress, REPORT_S } from './build/build-progress.ts'
import { claimBuild, claimPresentBuild, findBuild, sourceHash } from './build/builds.ts'

const root = path.resolve(import.meta.dirname, '..')
const folder = path.join(root, '.next', 'builds')

if (import.meta.main) {
  const build = await buildWhenNeeded({ isForced: process.argv.includes('--force'), output: 'inherit' })
  if (build === undefined) process.exitCode = 1
  else console.log(`The build of these sources is in ${path.relative(root, build)}`)
}

/**
 * Returns the folder of the build of the present sources, or undefined after printing why they cannot be built. `output` is
 * the destination of the compiler's output.
 */
export async function buildWhenNeeded({
  isForced = false,
  output = 'ignore',
}: {
  readonly isForced?: boolean
  readonly output?: 'inherit' | 'ignore'
} = {}): Promise<string | undefined> {
  return claimBuild(
    {
      folder,
      sources: () => sourceHash(root),
      async make(made) {
        if (!hasBuildTools()) {
          console.error('The packages that build Rollscope are not installed: npm install --include=dev')
          return false
        }
        console.log('Building Rollscope, once: about a minute on a laptop, some minutes on a busy machine …')
        if (await build(made, output)) return true
        console.error(`The build failed.${output === 'ignore' ? ' `npm run build` shows its whole output.' : ''}`)
        return false
      },
      onWait: () => console.log('Waiting for another start of Rollscope, which is building it …'),
    },
    isForced,
  )
}

/** Returns the folder of the build of the present sources, which no process removes while this one runs; undefined if there is none. */
export function claimPresent(): string | undefined {
  return claimPresentBuild(folder, sourceHash(root))
}

/** Returns the path of the script for saved pages in a build. */
export function offlineScript(build: string): string {
  return path.join(build, 'offline.js')
}

/** Returns the folder of the build of the present sources. Throws if there is none. */
export function currentBuild(): string {
  const build = findBuild(folder, sourceHash(root))
  if (build === undefined) throw new Error('there is no build of the present sources: npm run build')
  return build
}

async function build(folder: string, output: 'inherit' | 'ignore'): Promise<boolean> {
  // The development server's list of routes is removed, because a route in it that no longer exists would fail the type
  // check.
  rmSync(path.join(root, '.next', 'dev', 'types'), { recursive: true, force: true })
  const environmentTypes = path.join(root, 'next-env.d.ts')
  const earlier = existsSync(environmentTypes) ? readFileSync(environmentTypes) : undefined
  const next = spawn(process.execPath, [path.join('node_modules', 'next', 'dist', 'bin', 'next'), 'build'], {
    cwd: root,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ROLLSCOPE_BUILD: path.relative(root, folder) },
    stdio: ['ignore', output === 'inherit' ? 'inherit' : 'pipe', 'inherit'],
  })
  const progress = createBuildProgress(console.log, Date.now)
  next.stdout?.setEncoding('utf8').on('data', progress.read)
  const reminder = output === 'inherit' ? undefined : setInterval(progress.remind, REPORT_S * 1000)
  const [status] = (await once(next, 'exit')) as [number | null]
  clearInterval(reminder)
  // Next writes the folder of this build into the file, but that folder is temporary. `npm run types` writes the permanent
  // version.
  if (earlier === undefined) rmSync(environmentTypes, { force: true })
  else writeFileSync(environmentTypes, earlier)
  if (status !== 0) return false
  const { buildOfflineBundle } = await import('./build/offline-bundle.ts')
  await Promise.all([buildOfflineBundle(offlineScript(folder)), writeBrotliCopies(folder)])
  return true
}

/** Returns whether the devDependencies are installed, which `npm install --omit=dev` and NODE_ENV=production leave out. */
function hasBuildTools(): boolean {
  const { resolve } = createRequire(import.meta.url)
  try {
    return ['rolldown', 'typescript/package.json', '@tailwindcss/postcss'].every((name) => resolve(name) !== '')
  } catch {
    return false
  }
}

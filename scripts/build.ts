/** Builds the application where there is no build of the present sources yet: `npm run build`, and `npm start` before it starts. */

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { claimBuild, findBuild, sourceHash } from './builds.ts'

const root = path.resolve(import.meta.dirname, '..')
const folder = path.join(root, '.next', 'builds')

if (import.meta.main) {
  const build = await buildWhenNeeded({ isForced: process.argv.includes('--force'), output: 'inherit' })
  if (build === undefined) process.exitCode = 1
  else console.log(`The build of these sources is in ${path.relative(root, build)}`)
}

/**
 * Returns the folder of the build of the present sources; undefined when they cannot be built, after it has printed why. `output`: where that of the compiler
 * goes.
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
        console.log('Building Rollscope (half a minute to some minutes, once) …')
        if (await build(made, output)) return true
        console.error(`The build failed.${output === 'ignore' ? ' `npm run build` shows its whole output.' : ''}`)
        return false
      },
      onWait: () => console.log('Waiting for another start of Rollscope, which is building it …'),
    },
    isForced,
  )
}

/** The script of the pages that the application saves, in the folder of a build. */
export function offlineScript(build: string): string {
  return path.join(build, 'offline.js')
}

/** Returns the folder of the build of the present sources. Throws where there is none. */
export function currentBuild(): string {
  const build = findBuild(folder, sourceHash(root))
  if (build === undefined) throw new Error('there is no build of the present sources: npm run build')
  return build
}

async function build(made: string, output: 'inherit' | 'ignore'): Promise<boolean> {
  // Development's own list of the routes: one that names a route which is gone by now would fail the check of the types.
  rmSync(path.join(root, '.next', 'dev', 'types'), { recursive: true, force: true })
  const environmentTypes = path.join(root, 'next-env.d.ts')
  const earlier = existsSync(environmentTypes) ? readFileSync(environmentTypes) : undefined
  const { status } = spawnSync(process.execPath, [path.join('node_modules', 'next', 'dist', 'bin', 'next'), 'build'], {
    cwd: root,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ROLLSCOPE_BUILD: path.relative(root, made) },
    stdio: ['ignore', output, 'inherit'],
  })
  // Next writes the folder of this build into it, which is gone one day. `npm run types` makes the one that stays.
  if (earlier === undefined) rmSync(environmentTypes, { force: true })
  else writeFileSync(environmentTypes, earlier)
  if (status !== 0) return false
  const { buildOfflineBundle } = await import('./offline-bundle.ts')
  await buildOfflineBundle(offlineScript(made))
  return true
}

/** They are devDependencies, which `npm install --omit=dev` and NODE_ENV=production leave out. */
function hasBuildTools(): boolean {
  const { resolve } = createRequire(import.meta.url)
  try {
    return ['rolldown', 'typescript/package.json', '@tailwindcss/postcss'].every((name) => resolve(name) !== '')
  } catch {
    return false
  }
}

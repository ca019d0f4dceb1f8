/**
 * Builds of the application: one for each state of the sources, each in its own folder. An instance keeps the build that it
 * started with, even if others are built meanwhile. An unused build is removed after the next one.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type FileLock, tryLock } from './file-lock.ts'

/**
 * Files that the build does not read, or writes itself. The `exclude` option of globSync applies to folders, not to every
 * file.
 */
const UNREAD = /\.test\.tsx?$|(^|[/\\])(recordings|golden|built)[/\\]/
/** Files in the main folder have names of their own: others there, such as a script of the user, are not read. */
const SOURCES = [
  '{app,components,lib,public}/**/*',
  '{instrumentation,instrumentation-client,proxy}.ts',
  '{next,postcss}.config.mjs',
  '{package,package-lock,tsconfig,tsconfig.build}.json',
  'models/training/calculator.py',
  'scripts/{build,build/brotli-copies,build/offline-bundle}.ts',
]

/** Written last: without it, the build of a folder is in progress, failed, or was killed. */
const COMPLETE = 'rollscope-complete'
/** Locked by every instance that uses the build. */
const IN_USE = 'rollscope-in-use'
const BUILDING = 'building'
const POLL_MS = 100

/** The options of claimBuild. */
export interface Builds {
  /** The folder of all builds. */
  readonly folder: string
  /** Returns the present hash of the sources. */
  readonly sources: () => string
  /** Builds into `folder`, which does not exist. Returns whether it succeeded. */
  readonly make: (folder: string) => Promise<boolean>
  /** Called once if another process is building. */
  readonly onWait: () => void
}

/**
 * Returns the folder of the build of the present sources, and builds them if necessary; undefined if that fails. No process
 * removes the folder while this process runs. `isForced` builds in any case.
 */
export async function claimBuild(builds: Builds, isForced = false): Promise<string | undefined> {
  const { folder, sources, make, onWait } = builds
  mkdirSync(folder, { recursive: true })
  const found = isForced ? undefined : claimPresentBuild(folder, sources())
  if (found !== undefined) return found
  const lock = await waitForLock(path.join(folder, BUILDING), onWait)
  try {
    const hash = sources()
    const others = isForced ? undefined : claimFound(folder, hash)
    if (others !== undefined) return others
    const newFolder = path.join(folder, `${hash}-${randomBytes(3).toString('hex')}`)
    if (!(await make(newFolder))) {
      rmSync(newFolder, { recursive: true, force: true })
      return undefined
    }
    writeFileSync(path.join(newFolder, COMPLETE), '')
    tryLock(path.join(newFolder, IN_USE), 'shared')
    removeUnused(folder, newFolder)
    return newFolder
  } finally {
    lock.release()
  }
}

/**
 * Returns the folder of a complete build of sources with this hash; undefined if there is none. No process removes the folder
 * while this process runs. Builds of instances that have ended are removed.
 */
export function claimPresentBuild(folder: string, hash: string): string | undefined {
  const found = claimFound(folder, hash)
  if (found === undefined) return undefined
  const lock = tryLock(path.join(folder, BUILDING), 'exclusive')
  if (lock) removeUnused(folder, found)
  lock?.release()
  return found
}

/** Returns the newest complete build of sources with this hash. */
export function findBuild(folder: string, hash: string): string | undefined {
  const madeAt = (build: string) => statSync(path.join(build, COMPLETE), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return buildsIn(folder)
    .filter((build) => path.basename(build).startsWith(`${hash}-`) && madeAt(build) > 0)
    .toSorted((a, b) => madeAt(b) - madeAt(a))[0]
}

/** Returns the hash of all files that the build reads: 16 hexadecimal digits. */
export function sourceHash(root: string): string {
  const hash = createHash('sha256')
  const files = globSync(SOURCES, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .filter((file) => !UNREAD.test(file))
    .sort()
  for (const file of files) hash.update(file).update(readFileSync(path.join(root, file)))
  return hash.digest('hex').slice(0, 16)
}

/** Finds a build and takes its lock. Builds that are being removed do not count. */
function claimFound(folder: string, hash: string): string | undefined {
  const build = findBuild(folder, hash)
  const lock = build === undefined ? undefined : tryLock(path.join(build, IN_USE), 'shared')
  if (build === undefined || !lock) return undefined
  if (existsSync(path.join(build, COMPLETE))) return build
  lock.release()
  return undefined
}

async function waitForLock(file: string, onWait: () => void): Promise<FileLock> {
  for (let isFirst = true; ; isFirst = false) {
    const lock = tryLock(file, 'exclusive')
    if (lock) return lock
    if (isFirst) onWait()
    await setTimeout(POLL_MS)
  }
}

/** Removes all unused builds except `kept`. The caller has the lock of the builder, so no build is in progress. */
function removeUnused(folder: string, current: string): void {
  for (const build of buildsIn(folder)) {
    if (build === current) continue
    const lock = tryLock(path.join(build, IN_USE), 'exclusive')
    if (!lock) continue
    // This comes first, so that no process uses the build from now on.
    rmSync(path.join(build, COMPLETE), { force: true })
    lock.release()
    // The compiler of a killed builder may still write to the folder: the next build removes the rest.
    try {
      rmSync(build, { recursive: true, force: true })
    } catch (error) {
      console.warn(`The old build ${build} cannot be removed: ${(error as Error).message}`)
    }
  }
}

const buildsIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => path.join(folder, name))
    : []

/**
 * Completes package-lock.json so that it installs without warnings on every platform (decision 0054). Run it after every npm
 * install that changed the lock, and install once more: npm then normalises the entries.
 *
 * - Optional packages of other platforms get entries. If a registry does not have them, npm writes a lock without them, which
 *   npm ci on such a platform, and npm 11 on any, then refuses. Their integrity is unknown, so they have none.
 * - Engines of dependencies are removed. npm compares them with the Node that runs npm, but every package runs on the Node 24
 *   that is itself a dependency. lock.test.ts compares them with that one.
 * - Install scripts that `allowScripts` of package.json refuses are removed, because npm 10 does not read `allowScripts`.
 */
import { readFileSync, writeFileSync } from 'node:fs'

interface LockEntry {
  readonly version?: string
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly optional?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly engines?: unknown
  readonly hasInstallScript?: boolean
  readonly integrity?: string
}
/** The content of package-lock.json. */
export interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>
}

/** An optional dependency without an entry. */
export interface MissingPackage {
  /** The key of the missing entry. */
  readonly key: string
  readonly range: string
  readonly name: string
}

/** Returns the optional dependencies without an entry. */
export function missingPackages({ packages }: Lock): MissingPackage[] {
  return Object.entries(packages).flatMap(([holder, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !foldersAbove(holder).some((folder) => packages[`${folder}node_modules/${name}`]))
      .map(([name, range]) => ({ key: `node_modules/${name}`, range, name })),
  )
}

/** Returns the completed lock. `allowScripts` is the field of package.json. */
export function completeLock(lock: Lock, allowScripts: Readonly<Record<string, boolean>>): Lock {
  const added = missingPackages(lock).map(({ key, range, name }): [string, LockEntry] => [
    key,
    { version: range.replace(/^npm:.*@/, '').replace(/^[\^~>=]+/, ''), ...platformOf(name), optional: true },
  ])
  const present = Object.entries(lock.packages).map(([key, entry]): [string, LockEntry] => {
    const isRefused = allowScripts[packageName(key)] === false
    const fields = Object.entries(entry).filter(
      ([field]) => key === '' || !(field === 'engines' || (field === 'hasInstallScript' && isRefused)),
    )
    return [key, Object.fromEntries(fields)]
  })
  const entries = [...present, ...added].sort(([a], [b]) => a.localeCompare(b, 'en'))
  return { ...lock, packages: Object.fromEntries(entries) }
}

/** Returns the name of the package whose lock entry has this key. */
export const packageName = (key: string): string => key.replace(/^.*node_modules\//, '')

/** Returns the folders in which Node searches for packages, those of all parents of the package. */
function foldersAbove(holder: string): string[] {
  const folders = ['']
  for (const match of holder.matchAll(/node_modules\/(@[^/]+\/)?[^/]+/g))
    folders.push(`${holder.slice(0, match.index + match[0].length)}/`)
  return folders
}

const PLATFORM =
  /(darwin|win32|linux|android|freebsd|wasm32|openharmony|sunos|aix|netbsd|openbsd)[-_]?(arm64|x64|ia32|arm|universal|wasi|riscv64|ppc64|s390x)?/

function platformOf(name: string): Pick<LockEntry, 'os' | 'cpu'> {
  const match = PLATFORM.exec(name)
  if (match?.[1] === 'wasm32') return { cpu: ['wasm32'] }
  return { ...(match?.[1] && { os: [match[1]] }), cpu: [match?.[2] ?? 'x64'] }
}

if (process.argv[1] === import.meta.filename) {
  const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  writeFileSync('package-lock.json', `${JSON.stringify(completeLock(lock, allowScripts), null, 2)}\n`)
}

/**
 * Adds lock entries for optional packages of other platforms. A registry that does not carry them lets npm write a lock
 * without them, which npm ci on such a platform, and npm 11 on any, then refuses. Run after every npm install that
 * changed the lock, and install once more: npm brings the entries into its own form.
 */
import { readFileSync, writeFileSync } from 'node:fs'

interface LockEntry {
  readonly version?: string
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly optional?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
export interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>
}

export interface MissingPackage {
  /** Where the entry belongs. */
  readonly key: string
  readonly range: string
  readonly name: string
}

/** Optional dependencies that no entry stands for. */
export function missingPackages({ packages }: Lock): MissingPackage[] {
  return Object.entries(packages).flatMap(([holder, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !foldersAbove(holder).some((folder) => packages[`${folder}node_modules/${name}`]))
      .map(([name, range]) => ({ key: `node_modules/${name}`, range, name })),
  )
}

export function completed(lock: Lock): Lock {
  const added = missingPackages(lock).map(({ key, range, name }): [string, LockEntry] => [
    key,
    { version: range.replace(/^npm:.*@/, '').replace(/^[\^~>=]+/, ''), ...platformOf(name), optional: true },
  ])
  const entries = [...Object.entries(lock.packages), ...added].sort(([a], [b]) => (a < b ? -1 : 1))
  return { ...lock, packages: Object.fromEntries(entries) }
}

/** The places at which Node would look, from the package itself upwards. */
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
  writeFileSync('package-lock.json', `${JSON.stringify(completed(lock), null, 2)}\n`)
}

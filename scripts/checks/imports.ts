/** Reads the imports of the source tree and compares them with the table in import-directions.ts. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { domain, rooms } from './import-directions.ts'

/** An import of a source file. */
export interface ImportStatement {
  readonly file: string
  /** The module specifier as written in the source. */
  readonly specifier: string
}

/** Returns the source files without tests, which may import more. */
function sourceFiles(root: string): string[] {
  return globSync('{app,components,lib}/**/*.{ts,tsx}', { cwd: root })
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => !/\.test\.tsx?$|\/test-[\w-]+\.tsx?$/.test(file))
    .sort()
}

const IMPORT =
  /^(?:import|export|\})[^'"\n]*\bfrom ['"]([^'"]+)['"]|^import ['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm

/** Returns the imports in a source text. */
export function importsOf(file: string, source: string): ImportStatement[] {
  return Array.from(source.matchAll(IMPORT), (match) => ({
    file,
    specifier: (match[1] ?? match[2] ?? match[3]) as string,
  }))
}

/** Returns the imports of all source files, tests excepted. */
export const readImports = (root: string): ImportStatement[] =>
  sourceFiles(root).flatMap((file) => importsOf(file, readFileSync(path.join(root, file), 'utf8')))

const VALUE_IMPORT = /^(?:import|export) (?!type )[^'";]*?\bfrom '([^']+)'|^import '([^']+)'/gm

/** Returns the files of which each source file imports values when it loads. Types are erased, and late imports load nothing then. */
export const readValueImports = (root: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    sourceFiles(root).map((file) => {
      const source = readFileSync(path.join(root, file), 'utf8')
      const imported = Array.from(source.matchAll(VALUE_IMPORT), ([, from, whole]) =>
        targetOf(file, from ?? whole ?? ''),
      )
      return [file, imported.filter((target) => target !== undefined)]
    }),
  )

/** Returns files of which each imports the next, and the last is the first; undefined if there are none. */
export function importCycle(imports: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>()
  const cycleFrom = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const next of imports.get(file) ?? []) {
      const cycle = cycleFrom(next, [...path, file])
      if (cycle) return cycle
    }
    done.add(file)
    return undefined
  }
  for (const file of imports.keys()) {
    const cycle = cycleFrom(file, [])
    if (cycle) return cycle
  }
  return undefined
}

/** Returns why an import is not allowed, or undefined if it is. */
export function violation({ file, specifier }: ImportStatement): string | undefined {
  const room = roomOf(file)
  if (!room) return `${file} is in no folder of scripts/checks/import-directions.ts`
  const rules = rooms[room]
  const target = targetOf(file, specifier)
  if (target !== undefined) {
    const other = roomOf(target) ?? path.posix.dirname(target)
    const allowed = other === room || isDomainBefore(other, room) || rules?.imports.includes(other)
    return allowed ? undefined : `${file} imports ${specifier}: ${room} may not import ${other}`
  }
  const isNode = specifier.startsWith('node:')
  const name = isNode
    ? specifier
    : specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/')
  const allowed = rules?.packages.some((entry) => entry === name || (entry === 'node:*' && isNode))
  return allowed ? undefined : `${file} imports ${specifier}: ${room} is not a home of ${name}`
}

/**
 * Returns whether `other` is a domain folder that `room` may import: any of them, or an earlier one if `room` is a domain
 * folder itself.
 */
function isDomainBefore(other: string, room: string): boolean {
  const own = domain.indexOf(room)
  const at = domain.indexOf(other)
  return at >= 0 && (own < 0 || at < own)
}

/** Returns the longest folder of the table that contains the file. */
const roomOf = (file: string): string | undefined =>
  Object.keys(rooms)
    .filter((room) => file.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0]

/** Returns the file within the tree that a specifier names, or undefined for a package. */
function targetOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return specifier.slice(1)
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier)
  return undefined
}

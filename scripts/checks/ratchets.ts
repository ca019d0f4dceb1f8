/** Counts that may only decrease: `node scripts/checks/ratchets.ts --write` lowers the bounds to the present counts. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'

/** The counts of the sources. */
export interface RatchetCounts {
  /** Casts of the form `items[index] as T`: `elementAt` checks the index. */
  readonly itemCasts: number
  /** Exported functions, types and constants without a docstring. */
  readonly undocumentedExports: number
  /** Exported names with a word that docs/glossary.md replaces. */
  readonly blockedNames: number
  /** Local names and fields that are a bare participle or adverb, and functions whose name begins with one: neither says what the value is. */
  readonly participleNames: number
  /** Exported names that several files declare. Each has one meaning: one operation of several engines, or on both sides of an interface. */
  readonly repeatedNames: readonly string[]
  /** Comments that switch off a lint rule, by rule. */
  readonly suppressions: Readonly<Record<string, number>>
}

const BOUNDS = 'scripts/checks/ratchets.json'

const EXPORT = /^export (?:async )?(?:interface|type|function\*?|class|const) (\w+)/
/** Participles, adverbs and metaphors in place of a verb phrase or a noun (docs/glossary.md). */
const BLOCKED =
  /^(told|asked|given|held|made|alone|together|lost|kept|shown)([A-Z]|$)|[a-z](Told|Asked|Given|Held|Made|Alone|Together|Lost|Kept|Shown)([A-Z]|$)|(^|[a-z])(Wish|Patient|Hatch|Weigh(?!t)|Shelf|Doubt)|^(weigh(?!t)|doubt|shelf)/

const PARTICIPLE =
  /\b(?:(?:const|let|function\*?|readonly) (?:told|asked|given|held|made|alone|together|lost|kept|shown|news|said)\b|function\*? (?:told|asked|given|held|made|alone|together|lost|kept|shown|said|behind)(?=[A-Z]))/g

/** Returns the present counts. */
export function countSources(): RatchetCounts {
  const files = globSync('{app,components,lib,testing}/**/*.{ts,tsx}')
  const sources = files.filter((file) => !/\.test\.tsx?$|\/test-/.test(file)).map((file) => readFileSync(file, 'utf8'))
  const exported = sources.flatMap(exportsIn)
  const suppressed = files.flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(/biome-ignore ([\w/]+)/g), ([, rule]) => rule as string),
  )
  return {
    itemCasts: sources.reduce(
      (sum, source) => sum + Array.from(source.matchAll(/\] as (?!const\b|unknown\b)[A-Za-z]/g)).length,
      0,
    ),
    undocumentedExports: exported.filter(({ isDocumented }) => !isDocumented).length,
    blockedNames: exported.filter(({ name }) => BLOCKED.test(name)).length,
    participleNames: sources.reduce((sum, source) => sum + Array.from(source.matchAll(PARTICIPLE)).length, 0),
    repeatedNames: repeatedNames(),
    suppressions: Object.fromEntries(
      Array.from(
        Map.groupBy(suppressed, (rule) => rule),
        ([rule, all]) => [rule, all.length] as const,
      ).toSorted(),
    ),
  }
}

/** Returns the bounds that the counts must not exceed. */
export const readBounds = (): RatchetCounts => JSON.parse(readFileSync(BOUNDS, 'utf8')) as RatchetCounts

const DECLARATION =
  /^export (?:default )?(?:async |abstract )*(?:interface|type|function\*?|class|const|let|enum) (\w+)/gm

/** Returns the sorted names that more than one file declares and exports. The names in app/ are left out, because Next.js prescribes them. */
function repeatedNames(): string[] {
  const files = globSync('{bench,components,e2e,lib,peers,scripts,testing}/**/*.{ts,tsx}')
  const names = files
    .filter((file) => !/\.test\.tsx?$|node_modules/.test(file))
    .flatMap((file) => [
      ...new Set(Array.from(readFileSync(file, 'utf8').matchAll(DECLARATION), ([, name]) => name as string)),
    ])
  return [...new Set(names.toSorted().filter((name, index, sorted) => name === sorted[index - 1]))]
}

function exportsIn(source: string): { readonly name: string; readonly isDocumented: boolean }[] {
  const lines = source.split('\n')
  return lines.flatMap((line, index) => {
    const [, name] = EXPORT.exec(line) ?? []
    return name === undefined ? [] : [{ name, isDocumented: lines[index - 1]?.trimEnd().endsWith('*/') ?? false }]
  })
}

if (import.meta.main && process.argv.includes('--write')) {
  const counts = countSources()
  const { repeatedNames: allowed } = readBounds()
  const present = { ...counts, repeatedNames: counts.repeatedNames.filter((name) => allowed.includes(name)) }
  writeFileSync(BOUNDS, `${JSON.stringify(present, null, 2)}\n`)
  console.log(present)
}

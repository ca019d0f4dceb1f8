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
  /** Local names and fields that are a bare participle or adverb, which does not say what the value is. */
  readonly participleNames: number
  /** Comments that switch off a lint rule, by rule. */
  readonly suppressions: Readonly<Record<string, number>>
}

const BOUNDS = 'scripts/checks/ratchets.json'

const EXPORT = /^export (?:async )?(?:interface|type|function\*?|class|const) (\w+)/
/** Participles, adverbs and metaphors in place of a verb phrase or a noun (docs/glossary.md). */
const BLOCKED =
  /^(told|asked|given|held|made|alone|together|lost|kept|shown)([A-Z]|$)|[a-z](Told|Asked|Given|Held|Made|Alone|Together|Lost|Kept|Shown)([A-Z]|$)|(^|[a-z])(Wish|Patient|Hatch|Weigh(?!t)|Shelf|Doubt)|^(weigh(?!t)|doubt|shelf)/

const PARTICIPLE =
  /\b(?:const|let|function\*?|readonly) (?:told|asked|given|held|made|alone|together|lost|kept|shown|news|said)\b/g

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

function exportsIn(source: string): { readonly name: string; readonly isDocumented: boolean }[] {
  const lines = source.split('\n')
  return lines.flatMap((line, index) => {
    const [, name] = EXPORT.exec(line) ?? []
    return name === undefined ? [] : [{ name, isDocumented: lines[index - 1]?.trimEnd().endsWith('*/') ?? false }]
  })
}

if (import.meta.main && process.argv.includes('--write')) {
  const present = countSources()
  writeFileSync(BOUNDS, `${JSON.stringify(present, null, 2)}\n`)
  console.log(present)
}

/**
 * `npm run bench [-- name …]` runs the programs of bench/computation, bench/pages and bench/server one after another and prints a table of their figures. Names select
 * programs; without names, all run, and with `--quick` all except those that take many minutes each. It exits with 1 if a program fails
 * or a figure exceeds its limit.
 *
 * `--check` also compares ratios, sizes and numbers of nodes with bench/stored-ratios.json and fails if one is more than 10 %
 * worse. `--store` writes those of every program that has not failed there; a program that has failed keeps its stored values.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { FIGURES_VARIABLE, type Figure, figureLine, keepsLimit } from '../bench/support/figures.ts'
import { compareWithStored, isAccepted, type StoredRatios, withFigures } from '../bench/support/stored-ratios.ts'

const folder = path.resolve(import.meta.dirname, '..')
process.chdir(folder)
const STORED_FILE = 'bench/stored-ratios.json'
/** The file of each bench by its name. */
const files = new Map(
  globSync('bench/{computation,pages,server}/*.ts')
    .map((file) => [path.basename(file, '.ts'), file] as const)
    .sort(),
)
/** Benches that take many minutes: a hundred starts, gigabytes, thousands of rollouts or mutations, every case beside Python. */
const SLOW = [
  'import',
  'kill',
  'large-file',
  'many-rollouts',
  'mutated-imports',
  'parsers',
  'rollout-overhead',
  'stopped-readers',
  'store-upgrade',
  'upstream-faults',
]
const { values: options, positionals: wanted } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    store: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const unknown = [...wanted, ...SLOW].filter((name) => !files.has(name))
if (unknown.length > 0) {
  console.error(`there is no bench ${unknown.join(', ')}; there are ${Array.from(files.keys()).join(', ')}`)
  process.exit(1)
}

const scratch = mkdtempSync(path.join(os.tmpdir(), 'rollscope-figures-'))
const figuresFile = path.join(scratch, 'figures')
const failed: string[] = []
/** How long each bench took. */
const minutes: [name: string, minutes: number][] = []
for (const [name, bench] of files) {
  if (wanted.length > 0 ? !wanted.includes(name) : options.quick && SLOW.includes(name)) continue
  console.log(`\n=== ${name}`)
  const start = performance.now()
  const { status } = spawnSync(process.execPath, [bench], {
    stdio: 'inherit',
    env: { ...process.env, [FIGURES_VARIABLE]: figuresFile },
  })
  if (status !== 0) failed.push(name)
  minutes.push([name, (performance.now() - start) / 60_000])
}
const figures = (existsSync(figuresFile) ? readFileSync(figuresFile, 'utf8').trimEnd().split('\n') : []).map(
  (line): Figure => JSON.parse(line),
)
rmSync(scratch, { recursive: true })
console.log(`\n=== ${figures.length} figures`)
for (const figure of figures) console.log(`${figure.bench.padEnd(18)}${figureLine(figure)}`)
const total = minutes.reduce((sum, [, one]) => sum + one, 0)
console.log(`\n${total.toFixed(1)} minutes: ${minutes.map(([name, one]) => `${name} ${one.toFixed(1)}`).join(', ')}`)
const broken = figures.filter((figure) => !keepsLimit(figure))
console.log(`\n${broken.length} do not keep their limit${failed.length > 0 ? `; failed: ${failed.join(', ')}` : ''}`)
const losses = options.check ? printLosses() : 0
if (options.store) {
  const whole = figures.filter(({ bench }) => !failed.includes(bench))
  writeFileSync(STORED_FILE, `${JSON.stringify(withFigures(whole, storedRatios()), null, 2)}\n`)
  if (failed.length > 0) console.error(`not stored, because they failed: ${failed.join(', ')}`)
}
process.exitCode = failed.length + broken.length + losses > 0 ? 1 : 0

/** Prints every figure that is worse than its stored value, and returns how many are worse than accepted. */
function printLosses(): number {
  const { compared, added, missing } = compareWithStored(figures, storedRatios())
  const refused = compared.filter((one) => !isAccepted(one))
  console.log(`\n=== ${compared.length} figures compared with ${STORED_FILE}`)
  for (const { figure, stored, loss } of refused)
    console.log(
      `LOSS of ${(100 * loss).toFixed(0)} %  ${figure.bench}: ${figure.what}: ${stored} before, ${figure.value} now`,
    )
  for (const { bench, what } of added) console.log(`not stored yet: ${bench}: ${what}`)
  for (const name of missing) console.log(`stored, but no longer reported: ${name}`)
  console.log(`${refused.length} lost more than 10 %`)
  return refused.length + missing.length
}

function storedRatios(): StoredRatios {
  return existsSync(STORED_FILE) ? (JSON.parse(readFileSync(STORED_FILE, 'utf8')) as StoredRatios) : {}
}

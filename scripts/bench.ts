/**
 * `npm run bench [-- name …]` runs the programs of bench/ one after another and prints a table of their figures. Names select
 * programs; without names, all run. It exits with 1 if a program fails or a figure exceeds its limit.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { FIGURES_VARIABLE, type Figure, figureLine, keepsLimit } from '../bench/figures.ts'

const folder = path.resolve(import.meta.dirname, '..')
process.chdir(folder)
/** Shared modules of the benches, which measure nothing by themselves. */
const SHARED: readonly string[] = ['browser', 'edited-trajectory', 'figures', 'import-files']
const known = globSync('bench/*.ts')
  .map((file) => path.basename(file, '.ts'))
  .filter((name) => !SHARED.includes(name))
  .sort()
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`there is no bench ${unknown.join(', ')}; there are ${known.join(', ')}`)
  process.exit(1)
}

const scratch = mkdtempSync(path.join(os.tmpdir(), 'rollscope-figures-'))
const file = path.join(scratch, 'figures')
const failed: string[] = []
for (const name of wanted.length > 0 ? wanted : known) {
  console.log(`\n=== ${name}`)
  const { status } = spawnSync(process.execPath, [path.join('bench', `${name}.ts`)], {
    stdio: 'inherit',
    env: { ...process.env, [FIGURES_VARIABLE]: file },
  })
  if (status !== 0) failed.push(name)
}
const figures = (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []).map(
  (line): Figure => JSON.parse(line),
)
rmSync(scratch, { recursive: true })
console.log(`\n=== ${figures.length} figures`)
for (const figure of figures) console.log(`${figure.bench.padEnd(18)}${figureLine(figure)}`)
const broken = figures.filter((figure) => !keepsLimit(figure))
console.log(`\n${broken.length} do not keep their limit${failed.length > 0 ? `; failed: ${failed.join(', ')}` : ''}`)
process.exitCode = failed.length + broken.length > 0 ? 1 : 0

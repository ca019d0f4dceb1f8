/**
 * `npm run test:properties [runs] [file …]` runs the unit tests with properties on new random cases. A failure is reported
 * with its seed and path, and should become a test of its own.
 */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

const RUNS = 15_000
const [runs = String(RUNS), ...wanted] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(runs)) throw new Error(`the first argument is the number of runs of a property, not ${runs}`)

process.chdir(path.resolve(import.meta.dirname, '..'))
const files = globSync('{lib,components,scripts}/**/*.test.{ts,tsx}')
  .filter((file) => /from 'fast-check'/.test(readFileSync(file, 'utf8')))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
const { status } = spawnSync(
  path.join('node_modules', '.bin', 'vitest'),
  ['run', '--coverage.enabled=false', '--testTimeout=1800000', ...files],
  { stdio: 'inherit', env: { ...process.env, PROPERTY_RUNS: runs } },
)
process.exitCode = status ?? 1

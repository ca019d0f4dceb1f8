/** Checks that every gate detects a violation. The gates of Vitest and Playwright are tested in test-reports.test.ts. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const bin = (name: string) => path.resolve('node_modules', '.bin', name)

let folder: string
beforeEach(() => {
  // The folder is within the tree, so that packages resolve. Git ignores it.
  mkdirSync('.cache', { recursive: true })
  folder = mkdtempSync(path.resolve('.cache', 'gate-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (file: string, text: string) => writeFileSync(path.join(folder, file), text)
const run = (name: string, parameters: string[], cwd = folder) => {
  const { status, stdout, stderr } = spawnSync(bin(name), parameters, { cwd, encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}

test('biome refuses a debugger statement and wrong formatting, and reads the tree', () => {
  write('biome.json', JSON.stringify({ extends: ['../../biome.json'], vcs: { enabled: false } }))
  write('good.ts', 'export const a = 1\n')
  write('debugging.ts', 'debugger\nexport const a = 1\n')
  write('loose.ts', 'export const a  =  1;\n')
  const { status, output } = run('biome', ['check', 'good.ts', 'debugging.ts', 'loose.ts'])
  expect(status).toBe(1)
  expect(output).toMatch(/debugging\.ts.*noDebugger/)
  expect(output).toMatch(/loose\.ts format[\s\S]*Formatter would have printed/)
  expect(output).not.toContain('good.ts')
  // One rule shows which files are read, in a tenth of the time: rules of the whole project, such as those for imports, read
  // every file.
  const tree = run(
    'biome',
    ['lint', '--only=noDebugger', 'app', 'components/ui', 'e2e', 'lib/trajectory', 'scripts'],
    '.',
  )
  expect(Number(/Checked (\d+) files/.exec(tree.output)?.[1])).toBeGreaterThan(150)
})

test('tsc refuses what the project’s strictness forbids', () => {
  write(
    'tsconfig.json',
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: { incremental: false, plugins: [] },
      include: ['seeded-*.ts'],
      exclude: [],
    }),
  )
  const seeded = [
    ['export const a: number = 1\n', []],
    ['export const a: number = "1"\n', ['TS2322']],
    ['export const a: number = [1][0]\n', ['TS2322']],
    ['export const a: { b?: number } = { b: undefined }\n', ['TS2375']],
    ['export enum A { B }\n', ['TS1294']],
  ] as const
  for (const [index, [text]] of seeded.entries()) write(`seeded-${index}.ts`, text)
  const { output } = run('tsc', ['--noEmit', '-p', '.'])
  const errors = Array.from(output.matchAll(/seeded-(\d)\.ts\(.*error (TS\d+)/g), ([, index, code]) => [
    Number(index),
    code,
  ])
  expect(errors.toSorted()).toEqual(seeded.flatMap(([, codes], index) => codes.map((code) => [index, code])))
})

test('knip finds an unused file, export and package', () => {
  write(
    'package.json',
    JSON.stringify({ name: 'seeded', type: 'module', main: 'index.ts', dependencies: { zod: '*' } }),
  )
  write('index.ts', "export { used } from './used.ts'\n")
  write('used.ts', 'export const used = 1\nexport const idle = 2\n')
  write('lonely.ts', 'export const lonely = 1\n')
  const { status, output } = run('knip', ['--include', 'files,exports,dependencies'])
  expect(status).not.toBe(0)
  for (const found of ['lonely.ts', 'idle', 'zod']) expect(output).toContain(found)
})

import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runGates } from './run-gates.ts'

let folder: string
let printed: string
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gates-'))
  printed = ''
  vi.spyOn(console, 'log').mockImplementation((text: string) => {
    printed += `${text}\n`
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

/** Returns a command that runs JavaScript with `fs` and `at(name)`, the path of a file that the gates of a test share. */
const node = (code: string): string[] => [
  'node',
  '-e',
  `const fs = require('node:fs'); const at = (name) => ${JSON.stringify(`${folder}/`)} + name; ${code}`,
]
/** Returns a command that creates a file, and ends when the other gate has created its file. */
const meet = (own: string, other: string): string[] =>
  node(`fs.writeFileSync(at('${own}'), ''); setInterval(() => fs.existsSync(at('${other}')) && process.exit(), 10)`)

test('gates that need no other gate run at the same time', async () => {
  const results = await runGates([
    { name: 'first', command: meet('a', 'b') },
    { name: 'second', command: meet('b', 'a'), yields: true },
  ])
  expect(results).toEqual([
    { passed: 1, failures: [], tests: [] },
    { passed: 1, failures: [], tests: [] },
  ])
})

test('a gate starts after the gate that it needs has passed', async () => {
  const results = await runGates([
    { name: 'build', command: node(`setTimeout(() => fs.writeFileSync(at('built'), ''), 50)`) },
    { name: 'journeys', command: node(`process.exit(fs.existsSync(at('built')) ? 0 : 1)`), after: 'build' },
  ])
  expect(results.flatMap(({ failures }) => failures)).toEqual([])
})

test('a gate does not start after the gate that it needs has failed, and counts as failed', async () => {
  const results = await runGates([
    { name: 'build', command: node('process.exit(3)') },
    { name: 'journeys', command: node(`fs.writeFileSync(at('started'), '')`), after: 'build' },
  ])
  expect(results.flatMap(({ failures }) => failures)).toEqual([
    { file: 'node', title: 'build', reason: 'ended with 3; its output is above' },
    { file: 'node', title: 'journeys', reason: 'not started, because build failed' },
  ])
  expect(printed).not.toContain('journeys: started')
})

test('a program that cannot be started fails its gate', async () => {
  const [result] = await runGates([{ name: 'lint', command: ['no-such-program'] }])
  expect(result?.failures[0]?.reason).toContain('ENOENT')
})

test('the output of each gate is printed in one piece', async () => {
  const say = (word: string) =>
    node(
      `let n = 0; const timer = setInterval(() => { console.log('${word}'); if (++n === 5) clearInterval(timer) }, 5)`,
    )
  await runGates([
    { name: 'left', command: say('left') },
    { name: 'right', command: say('right') },
  ])
  for (const word of ['left', 'right']) expect(printed).toContain(`${word}\n`.repeat(5))
})

test('failures that a report names replace the failure of the gate itself', async () => {
  const failures = [{ file: 'a.test.ts', title: 'a sum', reason: 'expected 1 to be 2' }]
  const tests = [{ file: 'a.test.ts', title: 'a sum', milliseconds: 3 }]
  const [result] = await runGates([
    { name: 'unit', command: node('process.exit(1)'), results: () => ({ passed: 7, failures, tests }) },
  ])
  expect(result).toEqual({ passed: 7, failures, tests })
})

/** Checks that the real strands-sglang still makes the golden files of lib/rollout and lib/parsers. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, inject, test } from 'vitest'
import { python } from '../set-up/python.ts'

const places = inject('strands')
const goldenFolder = (room: string) => path.resolve(import.meta.dirname, '..', '..', 'lib', room, 'golden')

const made = (room: string): Promise<unknown> =>
  python(places.python, path.join(goldenFolder(room), 'make.py'), ['-'], null)

const kept = (room: string): unknown => JSON.parse(readFileSync(path.join(goldenFolder(room), 'golden.json'), 'utf8'))

interface Runs {
  readonly scenarios: Readonly<Record<string, unknown>>
}

test('strands-sglang sends and records what golden.json of lib/rollout says', async () => {
  const { scenarios } = (await made('rollout')) as Runs
  const before = (kept('rollout') as Runs).scenarios
  for (const [name, record] of Object.entries(before)) expect([name, scenarios[name]]).toEqual([name, record])
  expect(Object.keys(scenarios)).toEqual(Object.keys(before))
})

interface Parsed {
  readonly cases: readonly { readonly group: string; readonly text: string }[]
}

test('the parsers of strands-sglang read the texts of golden.json of lib/parsers as it says', async () => {
  // The limit for nested JSON depends on the version of CPython, so these cases are left out.
  const comparable = ({ cases }: Parsed) => cases.filter(({ group }) => !group.startsWith('depth'))
  expect(comparable((await made('parsers')) as Parsed)).toEqual(comparable(kept('parsers') as Parsed))
})

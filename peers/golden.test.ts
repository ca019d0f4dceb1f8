/** The golden files of lib/agent and lib/parsers are what the real strands-sglang and SGLang make, each time. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, inject, test } from 'vitest'
import { python } from './python.ts'

const folder = path.join('..', 'lib', 'agent', 'golden')

const parsers = path.join('..', 'lib', 'parsers', 'golden')

interface Detected {
  readonly cases: readonly unknown[]
}

interface Golden {
  readonly scenarios: Readonly<Record<string, unknown>>
}

test('strands-sglang sends and records what golden.json says', async () => {
  const { scenarios } = (await python(
    inject('places').peers.strands,
    path.join(folder, 'make.py'),
    ['-'],
    null,
  )) as Golden
  const kept: Golden = JSON.parse(readFileSync(path.join(import.meta.dirname, folder, 'golden.json'), 'utf8'))
  for (const [name, record] of Object.entries(kept.scenarios)) expect([name, scenarios[name]]).toEqual([name, record])
  expect(Object.keys(scenarios)).toEqual(Object.keys(kept.scenarios))
})

test('SGLang’s detectors read the texts of sglang.json as it says', async () => {
  const { sglang } = inject('places').peers
  const made = (await python(sglang, path.join(parsers, 'make_sglang.py'), ['-'], null)) as Detected
  const kept: Detected = JSON.parse(readFileSync(path.join(import.meta.dirname, parsers, 'sglang.json'), 'utf8'))
  for (const [index, one] of kept.cases.entries()) expect(made.cases[index]).toEqual(one)
  expect(made).toEqual(kept)
})

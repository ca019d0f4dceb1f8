/** The golden runs of lib/agent are what the real strands-sglang makes of their scenarios. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, inject, test } from 'vitest'
import { python } from './python.ts'

const folder = path.join('..', 'lib', 'agent', 'golden')

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

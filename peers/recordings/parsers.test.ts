/** Checks that the real SGLang still makes its golden files. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, inject, test } from 'vitest'
import { python } from '../set-up/python.ts'

const parsers = path.resolve(import.meta.dirname, '..', '..', 'lib', 'parsers', 'golden')

interface Detected {
  readonly cases: readonly unknown[]
}

test('SGLang’s detectors read the texts of sglang.json as it says', async () => {
  const { sglang } = inject('places').peers
  const made = (await python(sglang, path.join(parsers, 'make_sglang.py'), ['-'], null)) as Detected
  const kept: Detected = JSON.parse(readFileSync(path.join(parsers, 'sglang.json'), 'utf8'))
  for (const [index, one] of kept.cases.entries()) expect(made.cases[index]).toEqual(one)
  expect(made).toEqual(kept)
})

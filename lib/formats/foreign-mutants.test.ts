/** Damages the files of other tools, and records of the tools whose files are not at hand. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { documentedFiles, mutantOf } from './test-mutants.ts'
import { verdictOn } from './test-verdict.ts'

const SEED = 5
const MUTANTS = 80
const FOLDER = 'lib/formats/golden/foreign'
const files = [
  ...readdirSync(FOLDER)
    .filter((name) => /\.jsonl?$/.test(name))
    .map((name) => ({ name, text: readFileSync(`${FOLDER}/${name}`, 'utf8').split('\n').slice(0, 2).join('\n') })),
  ...documentedFiles(),
]

test(`${MUTANTS} mutated files of other tools each open, or are refused with a position and advice (seed ${SEED})`, async () => {
  const kinds = { opened: 0, refused: 0 }
  for (let number = 0; number < MUTANTS; number++) {
    const { origin, bytes } = mutantOf(files, number, SEED)
    const verdict = await verdictOn(bytes).catch((error: unknown) => {
      throw new Error(`mutant ${number}, ${origin}`, { cause: error })
    })
    kinds[verdict.kind]++
  }
  expect(kinds.opened).toBeGreaterThan(MUTANTS / 20)
  expect(kinds.refused).toBeGreaterThan(MUTANTS / 4)
})

/**
 * Tests damaged files. `npm run bench -- mutated-imports` does the same ten thousand times and measures time and
 * memory.
 */
import { expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { goodFiles, mutantOf } from './test-mutants.ts'
import { verdictOn } from './test-verdict.ts'

const SEED = 18
const MUTANTS = 200
const files = goodFiles([{ name: 'sample', text: JSON.stringify(sampleTrajectory) }])

test(`${MUTANTS} mutated files of every format each open, or are refused with a position and advice (seed ${SEED})`, async () => {
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

test('mutantOf gives the same file on every machine', () => {
  const [one, two] = [mutantOf(files, 7, SEED), mutantOf(files, 7, SEED)]
  expect(two).toEqual(one)
  expect(mutantOf(files, 8, SEED)).not.toEqual(one)
})

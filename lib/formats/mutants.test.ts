/**
 * Tests damaged files. `npm run bench -- mutated-imports` does the same ten thousand times and measures time and
 * memory.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { formats } from './registry.ts'
import { documentedFiles, filesByFormat, goodFiles, mutantOf } from './test-mutants.ts'
import { verdictOn } from './test-verdict.ts'

const SEED = 18
const MUTANTS = 200
const FOLDER = 'lib/formats/golden/foreign'
/** The smallest file of each format that JSON can hold. */
const FOREIGN = [
  ...['openai-completion.json', 'vllm-chat.json', 'vllm-generate.json', 'llama-cpp-completion.json'],
  ...['agent-lightning-events.json', 'mini-swe-agent.json', 'otlp-openinference.json', 'mlflow-trace.json'],
  ...['verl-3.jsonl', 'openai-finetuning.jsonl'],
]
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

test(`${MUTANTS} mutated files of servers, conversations and traces each open, or are refused with a position and advice (seed ${SEED})`, async () => {
  const foreign = FOREIGN.map((name) => ({ name, text: readFileSync(`${FOLDER}/${name}`, 'utf8') }))
  let opened = 0
  for (let number = 0; number < MUTANTS; number++) {
    const { origin, bytes } = mutantOf(foreign, number, SEED)
    const verdict = await verdictOn(bytes).catch((error: unknown) => {
      throw new Error(`mutant ${number}, ${origin}`, { cause: error })
    })
    if (verdict.kind === 'opened') opened++
  }
  expect(opened).toBeGreaterThan(MUTANTS / 20)
})

test('Every format has a good file to mutate, or the bench of mutated imports would not test it', () => {
  const foreign = readdirSync(FOLDER)
    .filter((name) => /\.jsonl?$/.test(name))
    .map((name) => ({ name, text: readFileSync(`${FOLDER}/${name}`, 'utf8') }))
  const found = filesByFormat([...files, ...foreign, ...documentedFiles()])
  expect(formats.map(({ name }) => name).filter((name) => !found.has(name))).toEqual([])
})

test('mutantOf gives the same file on every machine', () => {
  const [one, two] = [mutantOf(files, 7, SEED), mutantOf(files, 7, SEED)]
  expect(two).toEqual(one)
  expect(mutantOf(files, 8, SEED)).not.toEqual(one)
})

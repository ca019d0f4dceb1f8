/** Checks that the bundled examples match lib/browser/library/examples.ts. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { EXAMPLES } from '#lib/browser/library/examples.ts'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { driftingResponses } from './examples.ts'

const files = readdirSync('public/examples')
const read = (name: string) => readFileSync(`public/examples/${name}.json`, 'utf8')

function example(name: string): Trajectory {
  const decoded = decode(read(name))
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.error))
  return decoded.trajectory
}

test('every example is listed and has its file', () => {
  expect(files.toSorted()).toEqual(EXAMPLES.map(({ name }) => `${name}.json`).toSorted())
})

describe.each(EXAMPLES)('example $name', ({ name, title, note }) => {
  test('reads and writes the same bytes', () => {
    expect(encode(example(name))).toBe(read(name))
    expect(example(name)).toMatchObject({ title, note })
  })

  test('has in every request exactly the ids before it', () => {
    const sent: number[] = []
    for (const segment of example(name).segments) {
      if (segment.kind === 'response') expect(segment.request?.inputHash).toBe(inputHash(sent))
      sent.push(...segment.ids)
    }
  })

  test('has the shipped tokenizer', async () => {
    expect(example(name).model.tokenizer?.fingerprint).toBe(
      loadedTokenizer(tokenizerFolder('tiny-qwen3')).tokenizer.fingerprint,
    )
  })
})

test('the drift examples drift, and the greedy runs do not', async () => {
  const { tokenizer } = loadedTokenizer(tokenizerFolder('tiny-qwen3'))
  const drifting = EXAMPLES.filter(({ name }) => driftingResponses(example(name), tokenizer).length > 0)
  expect(drifting.map(({ name }) => name)).toEqual(['retokenization-drift'])
})

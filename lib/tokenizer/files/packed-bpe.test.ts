/** Tests which models are packed; word-encoder.test.ts compares packed vocabularies of real tokenizers with the library. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { packBpe, packedBpe } from './packed-bpe.ts'

interface Definition {
  readonly model: { readonly vocab: Readonly<Record<string, number>>; readonly merges: readonly unknown[] }
  readonly decoder: unknown
  readonly added_tokens: readonly { readonly id: number; readonly content: string; readonly special: boolean }[]
}

describe('packBpe', () => {
  const tiny: Definition = JSON.parse(readFileSync('models/tiny-qwen3/tokenizer.json', 'utf8'))
  const { vocab, merges } = tiny.model
  const withModel = (model: object) => {
    const tables = packBpe({ ...tiny, model: { ...tiny.model, ...model } }, tiny.added_tokens)
    return tables && packedBpe(tables)
  }
  const { A: _, ...withoutA } = vocab

  test('encodes the same with merges as texts and as pairs', () => {
    const pairs = merges.map((merge) => (typeof merge === 'string' ? merge.split(' ') : merge))
    const texts = pairs.map((pair) => (pair as string[]).join(' '))
    const word = ' manual'
    expect(withModel({ merges: pairs })?.encode(word)).toEqual(withModel({ merges: texts })?.encode(word))
  })

  test.each<[string, object]>([
    ['another kind of model', { type: 'Unigram' }],
    ['no vocabulary', { vocab: null }],
    ['no merges', { merges: undefined }],
    ['a suffix at the end of words', { end_of_word_suffix: '</w>' }],
    ['a byte without an id', { vocab: withoutA, merges: [] }],
    ['an id that is no number', { vocab: { ...vocab, more: 'x' } }],
    ['an id below 0', { vocab: { ...vocab, more: -1 } }],
    ['an id far beyond the vocabulary', { vocab: { ...vocab, more: 2 ** 40 } }],
    ['two pieces with one id', { vocab: { ...vocab, more: 0 } }],
    ['another id for an added token', { vocab: { ...vocab, '<|im_end|>': 900_000 } }],
    ['a merge into no piece', { merges: [...merges, ['A', '!!']] }],
    ['a merge of one part', { merges: [...merges, ['A']] }],
    ['a merge of three parts', { merges: [...merges, ['A', 'B', 'C']] }],
    ['merges of both notations', { merges: [...merges, 'A B'] }],
  ])('leaves a model with %s to the library', (_, model) => {
    expect(withModel({})).toBeDefined()
    expect(withModel(model)).toBeUndefined()
  })

  test('leaves other decoders, and added tokens that NFC changes, to the library', () => {
    expect(packBpe({ ...tiny, decoder: { type: 'Metaspace' } }, [])).toBeUndefined()
    expect(packBpe(tiny, [{ id: 2000, content: '\u212a', special: true }])).toBeUndefined()
  })
})

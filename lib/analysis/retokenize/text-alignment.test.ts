/** Tests that the alignment shows each change which a tokenizer makes to a text as a drift span of its own. */
import { expect, test } from 'vitest'
import { knownBytes, retokenize } from '#lib/rollout/record/retokenize.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { alignTokens } from '#lib/trajectory/drift/align.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'

/** A tokenizer that normalizes to NFC, as those of Qwen do. */
const { tokenizer: tiny } = loadedTokenizer(tokenizerFolder('tiny-qwen3'), 'tiny')
const byteIds = new Map(
  Array.from({ length: 300 }, (_, id) => [tiny.bytes(id), id] as const).flatMap(([bytes, id]) =>
    bytes.length === 1 ? [[bytes[0] as number, id]] : [],
  ),
)
const byteId = (byte: number): number => byteIds.get(byte) as number
/** Returns one token for each byte of a text. */
const spelled = (text: string): number[] => Array.from(new TextEncoder().encode(text), byteId)

/** Draws an alignment as `equal [left|right] equal`, with ~ for | if the bytes are equal. Bytes that are no character are hexadecimal. */
function again(ids: readonly number[], tokenizer: Tokenizer = tiny): string {
  const bytes = knownBytes(tokenizer)
  const encoded = retokenize(ids, tokenizer)
  const text = (all: readonly number[], { start, end }: { start: number; end: number }) => {
    const joined = Buffer.concat(all.slice(start, end).map(bytes))
    return joined.toString().includes('\uFFFD') && joined.length < 3 ? joined.toString('hex') : joined.toString()
  }
  return alignTokens(ids, encoded, bytes)
    .map((alignedRun) => {
      if (alignedRun.kind === 'equal') return text(ids, alignedRun.left)
      return `[${text(ids, alignedRun.left)}${alignedRun.sameBytes ? '~' : '|'}${text(encoded, alignedRun.right)}]`
    })
    .join('')
}

test.each<[string, readonly number[], string]>([
  ['another Unicode form', [...tiny.encode('a '), ...spelled('e\u0301'), ...tiny.encode('.\n')], 'a [e\u0301|é].\n'],
  [
    'a token that ends inside a character',
    [...tiny.encode('See\n'), ...spelled('🙂'), ...tiny.encode('\nand.')],
    'See\n🙂\nand.',
  ],
  ['half a character', [...tiny.encode('See\n'), byteId(0xf0), ...tiny.encode('\nand.')], 'See\n[f0|\uFFFD]\nand.'],
  ['half a character at the end', [...tiny.encode('See'), byteId(0xe2), byteId(0x82)], 'See[e282|\uFFFD]'],
  [
    'an added token that was spelled out',
    [...tiny.encode('One\n'), ...spelled('<|im_end|>'), ...tiny.encode('\nTwo.')],
    'One\n[<|im_end|>~<|im_end|>]\nTwo.',
  ],
])('text alignment of %s', (_, ids, shown) => {
  expect(again(ids)).toBe(shown)
})

test('the space that SentencePiece adds first is in no drift', () => {
  const spacing: Tokenizer = { ...byteTokenizer, encode: (text) => byteTokenizer.encode(` ${text}`) }
  expect(again(spacing.encode('one two'), spacing)).toBe(' one two')
  expect(again(spacing.encode('one two').slice(1), spacing)).toBe('[| ]one two')
})

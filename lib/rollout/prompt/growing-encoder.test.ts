import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { growingEncoder } from './growing-encoder.ts'

const tiny = loadedTokenizer(tokenizerFolder('tiny-qwen3'), 'tiny-qwen3').tokenizer

/** A tokenizer whose `<s>` is also the beginning of another token, and one that takes the spaces after its tokens. */
const overlapping: Tokenizer = {
  ...byteTokenizer,
  name: 'overlapping',
  addedTokens: [
    { id: 300, content: '<s>', special: true },
    { id: 301, content: '<s>ab', special: true },
  ],
  encode: (text) => text.split(/(<s>ab|<s>)/).flatMap((part) => ({ '<s>': 300, '<s>ab': 301 })[part] ?? bytes(part)),
}
const stripping: Tokenizer = {
  ...overlapping,
  name: 'stripping',
  encode: (text) => text.split(/(<s>ab *|<s> *)/).flatMap((part) => (part.startsWith('<s>') ? [300] : bytes(part))),
}
const bytes = (text: string): number[] => [...new TextEncoder().encode(text)]

const counting = (tokenizer: Tokenizer) => {
  let characters = 0
  const encode = (text: string) => {
    characters += text.length
    return tokenizer.encode(text)
  }
  return { tokenizer: { ...tokenizer, encode }, characters: () => characters }
}

test.each([
  ['the shipped model', tiny],
  ['bytes', byteTokenizer],
  ['overlapping tokens', overlapping],
  ['tokens that take spaces', stripping],
])('growingEncoder encodes texts that grow, change and shrink as the tokenizer does: %s', (_, tokenizer) => {
  const part = fc.constantFrom(
    ...[
      '<|im_start|>',
      '<|im_end|>',
      '<think>',
      '<s>',
      '<s>ab',
      'a',
      'b',
      ' ',
      '\n',
      'user\n',
      'What is 25 * 17?',
      'é',
    ],
    ...['<|im_start', '|>', '한', '"x": 1.0'],
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat({ max: 4 }), fc.array(part, { maxLength: 12 })), { maxLength: 6 }),
      (steps) => {
        const encode = growingEncoder(tokenizer)
        let parts: readonly string[] = []
        for (const [cut, added] of steps) {
          parts = [...parts.slice(0, Math.max(0, parts.length - cut)), ...added]
          expect(encode(parts.join(''))).toEqual(tokenizer.encode(parts.join('')))
        }
      },
    ),
  )
})

test('growingEncoder does not encode the shared beginning of a prompt again', () => {
  const { tokenizer, characters } = counting(tiny)
  const encode = growingEncoder(tokenizer)
  const turn = `<|im_start|>user\n${'What is 25 * 17? '.repeat(20)}<|im_end|>\n`
  for (let turns = 1; turns <= 40; turns++) encode(turn.repeat(turns))
  // Each call encodes its new turn and at most the turn before it.
  expect(characters()).toBeLessThanOrEqual((40 * 2 + 5) * turn.length)
})

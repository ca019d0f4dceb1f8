import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { anyText } from '#testing/strings.ts'
import { encodeWithOffsets } from './offsets.ts'

/**
 * Returns the byte tokenizer with a change of the text before it, as normalisers make one; `rest` gets the text between added
 * tokens.
 */
const behind = (change: (rest: string) => string, added: Tokenizer['addedTokens'] = []): Tokenizer => ({
  ...byteTokenizer,
  addedTokens: [...byteTokenizer.addedTokens, ...added],
  encode: (text) =>
    text
      .split(/(<\|\w+\|>)/)
      .flatMap((part, index) => byteTokenizer.encode(index % 2 === 1 || part === '' ? part : change(part))),
})

/** Returns the text of each token, and the unsure ranges. */
const drawn = (tokenizer: Tokenizer, text: string) => {
  const { ids, starts, ends, unsure } = encodeWithOffsets(tokenizer, text)
  return { held: ids.map((_, i) => text.slice(starts[i], ends[i])), unsure }
}

const mixedText = fc.string({
  unit: fc.oneof(
    anyText({ minLength: 1, maxLength: 1 }),
    fc.constantFrom(
      'e\u0301',
      'q\u0301\u0323',
      'ᄒ\u1161\u11ab',
      '가\u11a8',
      '\u{16d63}\u{16d67}',
      '\u0958',
      '\u{1d15e}',
    ),
    fc.constantFrom('<|im_end|>', '<|im_start|>', '<think>', '🙂', ' ', '\n', 'word', '\ud800', '\udc00'),
  ),
})

const isMonotone = (offsets: readonly number[]) =>
  offsets.every((offset, i) => i === 0 || offset >= (offsets[i - 1] as number))

describe('token offsets of bytes that spell the text', () => {
  test('give every token the character of its byte', () => {
    expect(drawn(byteTokenizer, 'a<|im_end|>é🙂')).toEqual({
      held: ['a', '<|im_end|>', 'é', 'é', '🙂', '🙂', '🙂', '🙂'],
      unsure: [],
    })
    expect(drawn(byteTokenizer, '')).toEqual({ held: [], unsure: [] })
  })

  test('join to the text, and each part is spelled by its tokens', () => {
    fc.assert(
      fc.property(mixedText, (text) => {
        const { ids, starts, ends, unsure } = encodeWithOffsets(byteTokenizer, text)
        expect(unsure).toEqual([])
        expect(isMonotone(starts) && isMonotone(ends)).toBe(true)
        expect(ids.map((_, i) => text.slice(starts[i], starts[i + 1])).join('')).toBe(text)
        for (const [i, start] of starts.entries()) {
          if (i > 0 && start === starts[i - 1]) continue
          expect(byteTokenizer.encode(text.slice(start))).toEqual(ids.slice(i))
        }
      }),
    )
  })
})

describe('token offsets of a text that was normalised', () => {
  test.each(['NFC', 'NFKC', 'NFD', 'NFKD'] as const)('to %s are all known', (form) => {
    const tokenizer = behind((rest) => rest.normalize(form))
    fc.assert(
      fc.property(mixedText, (text) => {
        const { ids, starts, ends, unsure } = encodeWithOffsets(tokenizer, text)
        expect(unsure).toEqual([])
        expect(isMonotone(starts)).toBe(true)
        // Each part between positions that are not shared is normalised separately.
        for (let i = 0; i < ids.length; ) {
          let next = i + 1
          while (next < ids.length && (starts[next] as number) < (ends[i] as number)) next++
          expect(tokenizer.encode(text.slice(starts[i], ends[next - 1]))).toEqual(ids.slice(i, next))
          i = next
        }
      }),
    )
  })

  test('give letters and marks that became one character one position', () => {
    const { held } = drawn(
      behind((rest) => rest.normalize()),
      'xe\u0301<|im_end|>\u0301',
    )
    expect(held).toEqual(['x', 'e\u0301', 'e\u0301', '<|im_end|>', '\u0301', '\u0301'])
  })
})

describe('token offsets of spaces', () => {
  const swallow: Tokenizer['addedTokens'][number] = { id: 300, content: '<s>', special: true }
  /** `<s>` takes the spaces on one side. */
  const stripping = (side: 'left' | 'right', id = 300): Tokenizer => ({
    ...byteTokenizer,
    addedTokens: [...byteTokenizer.addedTokens, { ...swallow, id }],
    encode: (text) =>
      text
        .split(side === 'left' ? /(\s*<s>)/ : /(<s>\s*)/)
        .flatMap((part) => (part.includes('<s>') ? [id] : byteTokenizer.encode(part))),
    bytes: (token) => (token === id ? new TextEncoder().encode('<s>') : byteTokenizer.bytes(token)),
  })

  test('give them to the added token that took them', () => {
    expect(drawn(stripping('left'), 'a <s> b<s> ').held).toEqual(['a', ' <s>', ' ', 'b', '<s>', ' '])
    expect(drawn(stripping('right'), 'a <s>  b<s> ').held).toEqual(['a', ' ', '<s>  ', 'b', '<s> '])
    expect(drawn(stripping('right'), '<s> <s> <|im_end|>').held).toEqual(['<s> ', '<s> ', '<|im_end|>'])
    expect(drawn(stripping('left'), ' <s> <s>é').held).toEqual([' <s>', ' <s>', 'é', 'é'])
  })

  test('give a dropped space to no token', () => {
    const { held, unsure } = drawn(
      behind((rest) => rest.replaceAll(' ', '')),
      ' a  b<|im_end|>c  ',
    )
    expect({ held, unsure }).toEqual({ held: ['a', 'b', '<|im_end|>', 'c'], unsure: [] })
  })

  test('give an inserted space the first character', () => {
    const inserting = behind((rest) => ` ${rest}`)
    expect(drawn(inserting, '🙂<|im_end|> b').held).toEqual(['🙂', '🙂', '🙂', '🙂', '🙂', '<|im_end|>', ' ', 'b', 'b'])
    expect(
      drawn(
        behind(() => ' '),
        'abc',
      ),
    ).toEqual({ held: ['abc'], unsure: [{ start: 0, end: 1 }] })
  })
})

describe('token offsets that cannot be found', () => {
  const shouting = behind((rest) => rest.toUpperCase())

  test('are unsure up to the next added token', () => {
    const { held, unsure } = drawn(shouting, '1ab<|im_end|>3')
    expect(unsure).toEqual([{ start: 1, end: 3 }])
    expect(held).toEqual(['1', 'ab', 'ab', '<|im_end|>', '3'])
  })

  test('are unsure up to an unchanged part', () => {
    const { held, unsure } = drawn(shouting, 'ab 1234 5678 + 1357 = 7035')
    expect(unsure).toEqual([{ start: 0, end: 2 }])
    expect(held.slice(0, 4)).toEqual(['ab', 'ab', ' ', '1'])
  })

  test('are unsure up to the end if the next part occurs twice', () => {
    expect(drawn(shouting, 'ab 12')).toEqual({ held: Array(5).fill('ab 12'), unsure: [{ start: 0, end: 5 }] })
    const twice = 'a 123456789 123456789 123456789 123456789 123456789 123456789 123456789'
    expect(drawn(shouting, twice).unsure[0]?.start).toBe(0)
    expect(drawn(shouting, twice).unsure[0]?.end).toBeGreaterThan(10)
  })

  test('keep the start of a token that begins before them', () => {
    const pairs: Tokenizer = {
      ...byteTokenizer,
      encode: (text) => Array.from({ length: Math.ceil(text.length / 2) }, (_, i) => 1000 + i),
      bytes: (id) => new TextEncoder().encode('aBc12345678901234567890'.slice((id - 1000) * 2, (id - 1000) * 2 + 2)),
    }
    const { starts, ends, unsure } = encodeWithOffsets(pairs, 'abc12345678901234567890')
    expect(unsure).toEqual([{ start: 0, end: 1 }])
    expect([starts[0], ends[0], starts[1], ends[1]]).toEqual([0, 2, 2, 4])
  })

  test('are not lost by characters that the tokenizer drops', () => {
    const dropping = behind((rest) => rest.replaceAll('§', ''))
    expect(drawn(dropping, 'a§<|im_end|>b§§cdefghijklmnopqrstuvwxyz').unsure).toEqual([])
    expect(drawn(dropping, 'a§').held).toEqual(['a'])
  })

  test('do not end at an added token that represents unknown characters', () => {
    const unknown: Tokenizer = {
      ...byteTokenizer,
      encode: (text) => byteTokenizer.encode(text).map((id) => (id > 127 && id < 256 ? 256 : id)),
    }
    const { unsure } = drawn(unknown, 'aé<|endoftext|>bcdefghijklmnopqrstuvwxyz')
    expect(unsure).toEqual([{ start: 1, end: 3 }])
  })

  test('do not take spaces before it for dropped ones', () => {
    const dropping = behind((rest) => rest.replaceAll(' ', '').toUpperCase())
    expect(drawn(dropping, '1  ab').unsure).toEqual([{ start: 1, end: 3 }])
    expect(
      drawn(
        behind(() => 'AB'),
        '  ',
      ).unsure,
    ).toEqual([{ start: 0, end: 2 }])
  })

  test('do not find an added token after the placed text', () => {
    const [first, second] = ['<|im_start|>', '<|im_end|>'].map((content) => byteTokenizer.encode(content)[0] as number)
    const turning: Tokenizer = { ...byteTokenizer, encode: () => [first as number, second as number] }
    expect(drawn(turning, '<|im_end|>x<|im_start|>y')).toEqual({
      held: ['<|im_start|>', 'y'],
      unsure: [{ start: 1, end: 2 }],
    })
  })

  test('of ids without bytes have no width', () => {
    const knowsLess: Tokenizer = { ...byteTokenizer, bytes: (id) => (id === 98 ? new Uint8Array() : Uint8Array.of(id)) }
    expect(drawn(knowsLess, 'a b').unsure).toEqual([])
  })
})

test('the work of encodeWithOffsets grows with the text, not with its square', () => {
  const change = (rest: string) => rest.replaceAll(/[a-z]{3}/g, (word) => word.toUpperCase())
  /** Counts the encoded characters and the ids whose bytes are requested. */
  const work = (text: string, tokenizer: Tokenizer): number => {
    let done = 0
    const counted: Tokenizer = {
      ...tokenizer,
      encode(part) {
        done += part.length
        return tokenizer.encode(part)
      },
      bytes(id) {
        done++
        return tokenizer.bytes(id)
      },
    }
    encodeWithOffsets(counted, text)
    return done
  }
  const text = (length: number) => 'abc defg é e\u0301 日本 <|im_end|> '.repeat(length)
  for (const tokenizer of [byteTokenizer, behind(change), behind((rest) => rest.normalize())]) {
    const [small, large] = [500, 5000].map((length) => work(text(length), tokenizer))
    expect((large as number) / (small as number)).toBeLessThan(12)
  }
})

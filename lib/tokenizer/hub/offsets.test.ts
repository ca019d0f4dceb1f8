/** Compares lib/rollout/record/offsets.ts with Python's tokenizers for real tokenizers (golden/make-offsets.py). */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { encodeWithOffsets } from '#lib/rollout/record/offsets.ts'
import { loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'

type Case = readonly [text: string, ids: readonly number[], offsets: readonly (readonly [number, number])[]]
const golden: { readonly definitions: Record<string, string>; readonly encodings: Record<string, readonly Case[]> } =
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'golden', 'offsets.json'), 'utf8'))

const loaded = (name: string): Tokenizer => {
  const tokenizerJson = golden.definitions[name]
  return (
    tokenizerJson === undefined ? loadedTokenizer(tokenizerFolder(name)) : loadTokenizerFiles(name, { tokenizerJson })
  ).tokenizer
}

/** Without marks and jamo, normalization joins nothing, and offsets are those of single characters. */
const isPlain = (text: string): boolean => !/[\p{M}\u1160-\u11ff]/u.test(text) && text.normalize('NFC') === text

describe.each(Object.keys(golden.encodings))('token offsets of %s', (name) => {
  const tokenizer = loaded(name)
  const cases = golden.encodings[name] as readonly Case[]

  test('are equal to Python’s', () => {
    let compared = 0
    for (const [text, ids, offsets] of cases) {
      const encoding = encodeWithOffsets(tokenizer, text)
      expect(encoding.unsure, JSON.stringify(text)).toEqual([])
      if (!isPlain(text)) continue
      expect(encoding.ids, JSON.stringify(text)).toEqual(ids)
      expect(
        encoding.ids.map((_, i) => [encoding.starts[i], encoding.ends[i]]),
        JSON.stringify(text),
      ).toEqual(offsets)
      compared += ids.length
    }
    expect(compared).toBeGreaterThan(100)
  })

  test('are in the same cluster as Python’s inside of characters that normalization joins', () => {
    for (const [text, ids, offsets] of cases) {
      const { starts, ends, ids: own } = encodeWithOffsets(tokenizer, text)
      expect(own, JSON.stringify(text)).toEqual(ids)
      for (const [i, [start, end]] of offsets.entries()) {
        expect(starts[i], JSON.stringify(text)).toBeLessThanOrEqual(start)
        expect(ends[i], JSON.stringify(text)).toBeGreaterThanOrEqual(end)
        expect(text.slice(starts[i], start)).toMatch(/^(.\p{M}*|[\u1100-\u11ff가-힣]*)$/su)
      }
    }
  })
})

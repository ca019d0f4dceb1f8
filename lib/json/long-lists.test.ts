import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseLongLists } from './long-lists.ts'
import { parsePythonJson } from './python-json.ts'

/** Reads into one Buffer, so that a result is overwritten by the next call. Node's Buffer shares its memory with its slices. */
function sourceOf(bytes: Uint8Array) {
  const buffer = Buffer.alloc(bytes.length)
  return {
    size: bytes.length,
    read: async (start: number, end: number) => {
      buffer.fill(0)
      buffer.set(bytes.subarray(start, end))
      return buffer.subarray(0, end - start)
    },
  }
}
/** Returns the ranges of lists of at least 8 bytes that contain only numbers. */
function longLists(bytes: Uint8Array) {
  const text = Buffer.from(bytes).toString('latin1')
  const withoutTexts = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, (found) => `"${'x'.repeat(found.length - 2)}"`)
  const lists = Array.from(withoutTexts.matchAll(/\[[^"[\]{}]*\]/g), ({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
  }))
  return lists.filter(({ start, end }) => end - start >= 8)
}

const PIECES = [17, 23, 1000]
/** Parses a text in pieces of several lengths, which must not change the result. */
async function parsed(text: string) {
  const bytes = new TextEncoder().encode(text)
  const [first, ...others] = await Promise.all(
    PIECES.map((piece) => parseLongLists(sourceOf(bytes), longLists(bytes), { part: 4, piece })),
  )
  for (const other of others) expect(other).toEqual(first)
  return first
}

test.each([
  ['a list that is the whole value', '[1, 2, 3, 4, 5]'],
  ['a list between other values', '{"a": "x", "ids": [1,2.5,-3e2,4,5], "b": [1], "c": {"d": [true,false,null]}}'],
  ['lists in a list', '[[1,2,3,4,5], [6,7,8,9,10]]'],
  ['a list with a number that JSON cannot represent', '{"logprobs": [NaN, -Infinity, 1.5], "reward": NaN}'],
  ['a list with a single long number', '[123456789012345]'],
  ['a list of which the first part has only whitespace before a number', '[         1, 2, 3]'],
  ['brackets and escaped quotes in a text', '{"[1,2,3,4,5]\\"": "[1,2,3,4,5] \\\\", "ids": [1,2,3,4,5]}'],
  ['a key that appears twice', '{"ids": [1,2,3,4,5], "ids": [6,7,8,9,10]}'],
  ['a text that looks like the place of a list', '{"a": "¤0", "b": "\\u00a4\\u00A4¤0", "ids": [1,2,3,4,5]}'],
  ['a text after a list that looks like its place', '{"ids": [1,2,3,4,5], "a": "¤¤0"}'],
  ['a byte order mark', '\uFEFF[1,2,3,4,5]'],
  ['two equal lists of many parts', JSON.stringify([Array(300).fill(12), Array(300).fill(12)])],
  ['texts in other scripts', '{"é世": [1,2,3,4,5], "x": "🙂"}'],
])('parseLongLists returns the value of the whole text for %s', async (_, text) => {
  expect(await parsed(text)).toEqual({ value: parsePythonJson(text.replace(/^\uFEFF/, '')) })
})

test('parseLongLists returns the value of the whole text for any lists that repeat the beginning of others', async () => {
  const number = fc.oneof(fc.nat(200), fc.constantFrom(-1.5, null, true))
  const list = fc.tuple(fc.array(number, { maxLength: 12 }), fc.nat(30), fc.array(number, { maxLength: 4 }))
  await fc.assert(
    fc.asyncProperty(fc.array(list, { minLength: 1, maxLength: 6 }), async (parts) => {
      const lists: unknown[][] = []
      for (const [begin, shared, end] of parts) lists.push([...(lists.at(-1)?.slice(0, shared) ?? begin), ...end])
      const text = JSON.stringify({ lists })
      expect(await parsed(text)).toEqual({ value: { lists } })
    }),
  )
})

test('parseLongLists keeps a list under the key __proto__ as data', async () => {
  const { value } = (await parsed('{"__proto__": [1,2,3,4,5]}')) as { readonly value: object }
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect(Object.entries(value)).toEqual([['__proto__', [1, 2, 3, 4, 5]]])
})

test.each([
  ['an entry is missing within a list', '[1,2,,3,4,5]'],
  ['an entry is missing at the end of a list', '[1,2,3,4,5,]'],
  ['a list ends with a comma after its first part', '[1,2,3,4,    ]'],
  ['a list ends with a comma and its last part is blank', '[1,2,3,4444,   ]'],
  ['an entry is not a number', '[1,2,3,x,4,5]'],
  ['the text around a list is not JSON', '{"ids": [1,2,3,4,5]'],
  ['a text has no end', '{"ids": [1,2,3,4,5], "a": "\\'],
])('parseLongLists returns undefined if %s', async (_, text) => {
  expect(await parsed(text)).toBeUndefined()
})

test('parseLongLists returns undefined for bytes that are not UTF-8', async () => {
  const bytes = Buffer.from('{"a\xff": [1,2,3,4,5]}', 'latin1')
  expect(await parseLongLists(sourceOf(bytes), longLists(bytes))).toBeUndefined()
})

test('parseLongLists returns undefined if an entry is longer than a piece', async () => {
  const bytes = new TextEncoder().encode('[1,1234567890,2]')
  expect(await parseLongLists(sourceOf(bytes), longLists(bytes), { piece: 8 })).toBeUndefined()
})

test('parseLongLists rejects if the bytes of a list cannot be read', async () => {
  const bytes = new TextEncoder().encode('[1,2,3,4,5]')
  const source = sourceOf(bytes)
  const read = async (start: number, end: number) => {
    if (start === 1) throw new Error('the disk is gone')
    return source.read(start, end)
  }
  await expect(parseLongLists({ ...source, read }, longLists(bytes))).rejects.toThrow('the disk is gone')
})

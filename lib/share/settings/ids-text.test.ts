import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { placeOfId, readIds } from './ids-text.ts'

const ids = fc.array(fc.nat(200_000), { minLength: 1, maxLength: 30 })

/** Writes ids as numpy prints an array: aligned, and broken into lines. */
const numpy = (list: readonly number[]): string => {
  const width = Math.max(...list.map((id) => String(id).length))
  const lines: string[] = []
  for (let at = 0; at < list.length; at += 8)
    lines.push(
      list
        .slice(at, at + 8)
        .map((id) => String(id).padStart(width))
        .join(', '),
    )
  return lines.join(',\n       ')
}

const WRITINGS: readonly (readonly [string, (list: readonly number[]) => string])[] = [
  ['a JSON list', (list) => JSON.stringify(list)],
  ['a readable JSON list', (list) => JSON.stringify(list, null, 2)],
  ['a batch of one', (list) => JSON.stringify([list])],
  ['spaces', (list) => list.join(' ')],
  ['commas', (list) => ` ${list.join(', ')},\n`],
  ['lines', (list) => list.join('\r\n')],
  ['a request', (list) => JSON.stringify({ sampling_params: {}, input_ids: list })],
  ['a request with a batch of one', (list) => JSON.stringify({ input_ids: [list] }, null, 1)],
  ['prompt_token_ids', (list) => JSON.stringify({ prompt_token_ids: list })],
  ['tokens', (list) => `${JSON.stringify({ tokens: list, reward: 1 })}\n`],
  ['numpy’s repr', (list) => `array([${numpy(list)}], dtype=int64)`],
  ['numpy’s str', (list) => `[${list.join(' ')}]`],
  ['a tensor', (list) => `tensor([[${numpy(list)}]], device='cuda:0')`],
  ['a tensor with a shape', (list) => `torch.tensor([${numpy(list)}],\n       dtype=torch.int32, requires_grad=False)`],
]

test.each(WRITINGS)('readIds reads the ids of %s', (_, write) => {
  fc.assert(
    fc.property(ids, (list) => {
      expect(readIds(write(list))).toEqual({ ok: true, ids: list, records: 1 })
    }),
  )
})

test.each(WRITINGS.filter(([name]) => !/request|_ids|tokens/.test(name)))(
  'placeOfId finds each id in %s',
  (_, write) => {
    fc.assert(
      fc.property(ids, fc.nat(), (list, at) => {
        const text = write(list)
        const index = at % list.length
        const place = placeOfId(text, index)
        expect(place && text.slice(place.start, place.end)).toBe(String(list[index]))
      }),
    )
  },
)

describe('readIds', () => {
  const lines = [{ input_ids: [1, 2] }, { input_ids: [3], text: 'c' }].map((line) => JSON.stringify(line)).join('\n')
  test('counts several records, and reads the requested one', () => {
    expect(readIds(lines)).toEqual({ ok: true, ids: [1, 2], records: 2 })
    expect(readIds(lines, 1)).toEqual({ ok: true, ids: [3], text: 'c', records: 2 })
    expect(readIds(lines, 7)).toMatchObject({ ids: [3] })
    expect(readIds('[[1, 2], [3]]', 1)).toEqual({ ok: true, ids: [3], records: 2 })
    expect(readIds('[{"tokens": [1]}, {"tokens": [2]}]', 1)).toEqual({ ok: true, ids: [2], records: 2 })
  })
})

test('readIds reads no ids from an empty text', () => {
  expect(readIds(' \n')).toEqual({ ok: true, ids: [], records: 0 })
  expect(readIds('[]')).toEqual({ ok: true, ids: [], records: 1 })
  expect(placeOfId('', 0)).toBeUndefined()
  expect(placeOfId('{"input_ids": [1]}', 0)).toBeUndefined()
})

describe('readIds reports an error with its position', () => {
  test.each([
    ['1, two, 3', 3, 'expected a token id, found two'],
    ['[1, -100, 3]', 4, 'ids are not negative'],
    ['[1 2 ... 9]', 5, 'omits ids'],
    ['1.5', 0, 'expected a token id, found 1.5'],
    ['99999999999999999999', 0, 'expected a token id'],
    ['x'.repeat(60), 0, '…'],
    ['{"a": 1}', 0, 'expected a field input_ids'],
    ['{"tokens": [1, "x"]}', 0, 'tokens[1]: expected a token id, found "x"'],
    ['{"tokens": [1,}', 15, 'it is not JSON'],
    ['{"tokens": [1]}\n{"tokens": [1', 0, ''],
  ])('in %s', (text, at, why) => {
    const read = readIds(text)
    if (read.ok) {
      expect(readIds(text, 1)).toMatchObject({ ok: false, at: text.length })
      return
    }
    expect(read.why).toContain(why)
    expect(read.at).toBe(at)
  })

  test('inside the text, for any text', () => {
    const piece = fc.oneof(
      fc.constantFrom('[', ']', '{', '}', ',', ' ', '\n', '"tokens":', 'array(', '1', '23', '-1', '...', 'x'),
      fc.string({ maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        const read = readIds(text)
        if (read.ok) expect(read.ids.every((id) => Number.isSafeInteger(id) && id >= 0)).toBe(true)
        else expect(read.at >= 0 && read.at <= text.length).toBe(true)
      }),
    )
  })
})

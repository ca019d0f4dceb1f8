import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Vocab, VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { CELLS, createPieceTable, ENDS_LINE, IS_PART } from './piece-table.ts'
import { pieceView, plainCells } from './piece-view.ts'
import { completedCharacter, partBytes, splitCharacterAt } from './split-character.ts'

describe('drawing of combined characters', () => {
  test.each([
    ['👨‍👩‍👧', '👨‍👩‍👧'],
    ['🇩🇪', '🇩🇪'],
    ['❤️ 👍🏽', '❤️ 👍🏽'],
    ['👩', '👩'],
    ['\u200d', '⟨U+200D⟩'],
    // Tag characters hidden after an emoji are shown; a well-known flag is not taken apart.
    ['🙂\u{e0041}\u{e0042}', '🙂⟨U+E0041⟩⟨U+E0042⟩'],
    ['e\u0301', 'e\u0301'],
    ['\u0301', '◌\u0301'],
    ['\ud83d', '⟨U+D83D⟩'],
    ['\u115f', '⟨U+115F⟩'],
    ['שלום', 'שלום'],
  ])('draws the text %j with every character visible', (entry, text) => {
    const view = pieceView(entry)
    expect(view.text).toBe(text)
    expect(view.isPlain).toBe(false)
    expect(view.marks).toHaveLength(text.length)
  })

  test('never splits a character where it cuts a long text', () => {
    expect(pieceView(`${'x'.repeat(399)}🙂${'y'.repeat(50)}`).text).toBe(`${'x'.repeat(399)}…⟨52 more⟩`)
  })

  test('finds a hidden character after a long text', () => {
    expect(pieceView(`${'a'.repeat(390)}\u0000`).text).toBe(`${'a'.repeat(390)}⟨U+0000⟩`)
  })
})

test('cells that are computed without measuring agree with the drawing', () => {
  const character = fc.oneof(
    fc.constantFrom(' ', '\n', '\t', '\r', 'a', '~', '\u0000', 'é', '日'),
    fc.string({ maxLength: 2 }),
  )
  fc.assert(
    fc.property(fc.array(character, { maxLength: 6 }), fc.constantFrom(1, 100), (parts, times) => {
      const entry = parts.join('').repeat(times)
      const cells = plainCells(entry)
      const view = pieceView(entry)
      if (cells !== undefined) expect([view.isPlain, view.text.length]).toEqual([true, cells])
    }),
  )
  expect(plainCells(' ok\n')).toBe(4)
})

/** A text whose bytes are in tokens of one to three bytes, with the sizes of these tokens. */
const splitTexts = fc.tuple(
  fc.array(fc.constantFrom('a', 'é', '日', '🙂', '한'), { minLength: 1, maxLength: 8 }),
  fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 40, maxLength: 40 }),
)

describe('split characters', () => {
  const reader = (entries: readonly VocabEntry[]) => (index: number) => partBytes(entries[index])

  test('are recognized once they are complete', () => {
    const entries = [
      'x',
      { hex: 'e6' },
      { hex: '97' },
      { hex: 'a5' },
      { hex: 'f09f' },
      { hex: '9982c3' },
      { hex: 'a9' },
    ]
    const found = entries.map((_, index) => completedCharacter(reader(entries), index))
    expect(found).toEqual([
      undefined,
      undefined,
      undefined,
      { text: '日', start: 1 },
      undefined,
      { text: '🙂', start: 4 },
      { text: 'é', start: 5 },
    ])
    expect(entries.map((_, index) => splitCharacterAt(reader(entries), index, entries.length))).toEqual([
      undefined,
      { start: 1, end: 4 },
      { start: 1, end: 4 },
      { start: 1, end: 4 },
      { start: 4, end: 6 },
      { start: 4, end: 6 },
      { start: 5, end: 7 },
    ])
  })

  test.each([
    ['a first byte without the rest', ['c3', 'c3', '41']],
    ['more bytes than a character has', ['80', '80', '80', '80', '80']],
    ['a longer form than needed', ['c0', '80']],
    ['half of a pair', ['ed', 'a080']],
    ['beyond the last character', ['f7', 'bfbfbf']],
  ])('are not recognized in %s', (_, bytes) => {
    const entries = bytes.map((hex) => ({ hex }))
    for (const index of entries.keys()) expect(completedCharacter(reader(entries), index)).toBeUndefined()
  })

  test('are found as often as the text has them, whatever the token boundaries', () => {
    fc.assert(
      fc.property(splitTexts, ([characters, sizes]) => {
        const bytes = new TextEncoder().encode(characters.join(''))
        const hex = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString('hex')
        const entries: VocabEntry[] = []
        for (let at = 0, next = 0; at < bytes.length; at = next) {
          next = Math.min(bytes.length, at + (sizes[entries.length] ?? 1))
          entries.push({ hex: hex(at, next) })
        }
        const starts: number[] = []
        for (const entry of entries) starts.push((starts.at(-1) ?? 0) + (partBytes(entry)?.length ?? 0))
        // The characters with bytes in more than one token, in order.
        let at = 0
        const split = characters.filter((character) => {
          const [from, to] = [at, at + new TextEncoder().encode(character).length]
          at = to
          return starts.some((cut) => cut > from && cut < to)
        })
        expect(entries.flatMap((_, index) => completedCharacter(reader(entries), index)?.text ?? [])).toEqual(split)
      }),
    )
  })
})

describe('widths of tokens', () => {
  const vocab: Vocab = {
    '0': 'ab',
    '1': 'c\n',
    '2': '日本',
    '3': { hex: 'e6' },
    '4': { hex: '97a5' },
    '5': 'x'.repeat(500),
    '6': '日\n',
  }
  const tableOf = (words: Vocab, measure = (text: string) => 1.7 * text.length) => {
    const table = createPieceTable(measure)
    table.takeVocab(words)
    return table
  }

  test('are one cell for each plain character, and whole cells for measured texts', () => {
    const table = tableOf(vocab)
    expect([0, 1, 2].map((id) => table.widthOf(id) & CELLS)).toEqual([2, 2, 4])
    expect([1, 3].map((id) => table.widthOf(id) & ~CELLS)).toEqual([ENDS_LINE, IS_PART])
    // An id without a text is drawn as its number between signs that are measured, however large the id is.
    expect(table.piece([5_000_000], 0, 99)).toMatchObject({ text: '⟨5000000⟩', cells: 11 })
    expect(table.widths().length).toBeLessThan(1 << 20)
  })

  test('of the last part of a character include the character', () => {
    const table = tableOf(vocab)
    const ids = [3, 4, 4]
    expect(ids.map((_, index) => table.piece(ids, index, 99).text)).toEqual(['⟨E6⟩', '⟨97 A5⟩日', '⟨97 A5⟩'])
    expect(table.partCells(ids, 1)).toBe(table.partCells(ids, 2) + 2)
    expect(ids.map((_, index) => table.group(ids, index))).toEqual([
      { start: 0, end: 2 },
      { start: 0, end: 2 },
      undefined,
    ])
    expect(table.group([0], 0)).toBeUndefined()
  })

  test('of a token wider than the line are cut to it, and the number of omitted characters is shown', () => {
    const table = tableOf({ ...vocab, '7': '日'.repeat(300), '8': 'y'.repeat(20_000) })
    for (const id of [5, 7, 8] as const) {
      const { text, cells } = table.piece([id], 0, 40)
      const [, kept = '', more = ''] = /^([^…]*)…⟨([\d,]+) more⟩$/.exec(text) ?? []
      expect([cells, kept.length + Number(more.replace(',', ''))]).toEqual([40, { 5: 500, 7: 300, 8: 20_000 }[id]])
    }
  })

  test('put a mark at the cell where the glyphs before it end', () => {
    expect(tableOf(vocab).piece([6], 0, 99)).toMatchObject({ cells: 3, marks: '  ↵' })
  })

  test('are estimated if many texts are new, then measured, and corrected where the estimate was wrong', () => {
    const words = Object.fromEntries(Array.from({ length: 2000 }, (_, id) => [id, String.fromCharCode(0x4e00 + id)]))
    let asked = 0
    const table = tableOf(words, (text) => {
      asked++
      return text.charCodeAt(0) > 0x4e00 + 1500 ? 3 : 2
    })
    for (let id = 0; id < 2000; id++) table.widthOf(id)
    expect(asked).toBeLessThan(600)
    expect(table.widthOf(1800) & CELLS).toBe(2)
    let slices = 0
    while (table.settle(50)) slices++
    expect(slices).toBeGreaterThan(20)
    expect([table.version(), table.widthOf(1800) & CELLS, table.widthOf(100) & CELLS]).toEqual([1, 3, 2])
    expect(table.settle(0)).toBe(false)
  })

  test('are measured at once if few texts are new, so that tokens are laid out once', () => {
    const words = Object.fromEntries(Array.from({ length: 60 }, (_, id) => [id, String.fromCharCode(0x4e00 + id)]))
    const table = tableOf(words, () => 3)
    for (let id = 0; id < 60; id++) table.widthOf(id)
    expect([table.settle(0), table.version(), table.widthOf(59) & CELLS]).toEqual([false, 0, 3])
  })

  test('are kept while the texts are the same', () => {
    const table = tableOf(vocab)
    for (const id of [0, 2, 3]) table.widthOf(id)
    table.takeVocab({ ...vocab, '3': { hex: 'e6' }, '9': 'new' })
    expect(table.version()).toBe(0)
    const { '2': _, ...fewer } = vocab
    table.takeVocab(fewer)
    expect([table.version(), table.piece([2], 0, 99).text]).toEqual([0, '⟨2⟩'])
    table.takeVocab({ ...vocab, '0': 'other' })
    expect([table.version(), table.widthOf(0) & CELLS]).toEqual([1, 5])
  })
})

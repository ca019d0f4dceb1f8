import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Segment, VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf } from '#lib/trajectory/tokens/pieces.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { selectedHex, selectedIds, selectedJson, selectedText } from '../card/selected-tokens.ts'
import { spansAround } from '../card/spans-around.ts'
import { copiedNote } from '../card/use-copy.ts'
import { NO_FOLDS } from '../grid-options.ts'
import { keyLabel, keyName } from '../key-name.ts'
import { allToggled, foldToggledAt, thinksToggled, unfoldedAt } from '../pieces/folding.ts'
import { createPieceTable } from '../pieces/piece-table.ts'
import { isSingle, readSelection, type Selection, selectedRange, selectionText, single } from '../selection.ts'
import { GRID_MOVES, type GridPlace, selectionOfKey } from './grid-keys.ts'
import { createLayoutMaker, UNFOLDED } from './layout.ts'

describe('names of keys', () => {
  const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false }
  test.each([
    [{ key: 'j' }, 'j'],
    [{ key: 'J', shiftKey: true }, 'J'],
    [{ key: 'ArrowDown', shiftKey: true }, 'Shift+ArrowDown'],
    [{ key: 'k', ctrlKey: true }, 'Mod+k'],
    [{ key: 'K', metaKey: true }, 'Mod+k'],
    [{ key: 'C', ctrlKey: true, shiftKey: true }, 'Mod+Shift+c'],
    [{ key: '?', shiftKey: true }, '?'],
    [{ key: 'ArrowUp', altKey: true }, 'Alt+ArrowUp'],
    // `[` is AltGr+8 on a German keyboard, and Option+5 on a German Mac.
    [{ key: '[', ctrlKey: true, altKey: true }, '['],
    [{ key: '[', altKey: true }, '['],
    [{ key: 'j', altKey: true }, 'Alt+j'],
  ])('the pressed key %j is named %s', (pressed, name) => {
    expect(keyName({ ...none, ...pressed })).toBe(name)
  })

  test.each([
    ['Mod+k', 'Ctrl K', '⌘K'],
    ['Mod+Shift+c', 'Ctrl Shift C', '⌘⇧C'],
    ['ArrowLeft', '←', '←'],
    ['J', 'J', 'J'],
    ['+', '+', '+'],
  ])('the key %s is shown as %s', (name, elsewhere, mac) => {
    expect([keyLabel(name, false), keyLabel(name, true)]).toEqual([elsewhere, mac])
  })
})

/** Returns a layout of segments with so many tokens, each two cells wide, in lines of five. */
function placeOf(counts: readonly number[], selection: Selection | undefined, pageLines = 3): GridPlace {
  const segments = counts.map((count): Segment => ({ kind: 'prompt', ids: Array(count).fill(0), messages: [] }))
  const table = createPieceTable((text) => text.length)
  const layout = createLayoutMaker(table)(segments, { '0': 'ab' }, { ...UNFOLDED, columns: 10 })
  return { layout, count: counts.reduce((sum, count) => sum + count, 0), selection, pageLines }
}

describe('key bindings of the token view', () => {
  const pressed = (keys: readonly string[], counts: readonly number[], from?: Selection): Selection | undefined =>
    keys.reduce<Selection | undefined>((selection, key) => {
      const chosen = selectionOfKey(key, placeOf(counts, selection))
      return chosen ? chosen.selection : selection
    }, from)

  test.each([
    [['j'], undefined, '0'],
    [['j', 'j', 'ArrowRight'], undefined, '2'],
    [['k'], undefined, '0'],
    [['ArrowDown'], single(2), '7'],
    [['ArrowDown', 'ArrowDown'], single(8), '13'],
    [['ArrowUp'], single(13), '11'],
    [['PageDown'], single(1), '13'],
    [['PageUp'], single(16), '4'],
    [['J', 'J'], single(0), '22'],
    [['K'], single(22), '12'],
    [['G', 'g'], single(3), '0'],
    [['End'], single(3), '23'],
    [['Shift+ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowLeft'], single(3), '3-4'],
    [['Shift+End', 'Escape'], single(3), '23'],
    [['Escape'], single(3), ''],
    [['Mod+a'], single(13), '12-21'],
    [['Mod+a', 'Mod+a'], single(13), '0-23'],
    [['Mod+a'], undefined, '0-23'],
  ])('the keys %j with the selection %j select the expected tokens', (keys, from, chosen) => {
    const selection = pressed(keys, [12, 10, 0, 2], from)
    expect(selection ? selectionText(selection) : '').toBe(chosen)
  })

  test('other keys, and a view without tokens, change nothing', () => {
    expect(selectionOfKey('q', placeOf([3], undefined))).toBeUndefined()
    expect(selectionOfKey('Escape', placeOf([3], undefined))).toBeUndefined()
    expect(selectionOfKey('j', placeOf([], undefined))).toBeUndefined()
  })

  test('every key leads to a token, and going forth and back ends at the same token', () => {
    const counts = fc
      .array(fc.nat(14), { minLength: 1, maxLength: 5 })
      .filter((list) => list.some((count) => count > 0))
    const keys = fc.array(
      fc.constantFrom(...GRID_MOVES.flatMap(({ keys }) => keys.flatMap((key) => [key, `Shift+${key}`]))),
    )
    fc.assert(
      fc.property(counts, keys, (counts, keys) => {
        const count = counts.reduce((sum, count) => sum + count, 0)
        const selection = pressed(keys, counts, single(0)) as Selection
        const { start, end } = selectedRange(selection)
        expect(start).toBeGreaterThanOrEqual(0)
        expect(end).toBeLessThanOrEqual(count)
        if (selection.focus + 1 < count) expect(pressed(['j', 'k'], counts, selection)).toEqual(single(selection.focus))
      }),
    )
  })

  test('no key belongs to two movements', () => {
    const keys = GRID_MOVES.flatMap(({ keys }) => keys)
    expect(new Set(keys).size).toBe(keys.length)
  })
})

test('a selection is read from the address as it was written', () => {
  fc.assert(
    fc.property(fc.nat(999_999_999), fc.nat(999_999_999), (anchor, focus) => {
      expect(readSelection(selectionText({ anchor, focus }))).toEqual({ anchor, focus })
      expect(isSingle({ anchor, focus })).toBe(anchor === focus)
    }),
  )
})

describe('spans around a token', () => {
  const around = (index: number) => spansAround(sample, index).map(({ start, end }) => `${start}-${end}`)
  test('are sorted by size, each range once, and end with the segment', () => {
    expect(around(3)).toEqual(['3-6', '3-8'])
    expect(around(0)).toEqual(['0-3'])
    expect(around(6)[0]).toBe('6-7')
    expect(around(6).at(-1)).toBe('3-8')
    expect(around(-1)).toEqual([])
  })
})

describe('copied tokens', () => {
  test('a split character is copied whole, and a part of it is marked as inexact', () => {
    expect(selectedText(sample, { anchor: 4, focus: 5 })).toEqual({ text: '日', isExact: true })
    expect(selectedText(sample, { anchor: 5, focus: 3 })).toEqual({ text: '<think>日', isExact: true })
    expect(selectedText(sample, single(4)).isExact).toBe(false)
  })

  test('the message after a copy says how much was copied, or that bytes are missing', () => {
    expect(copiedNote({ text: 'x'.repeat(1200), isExact: true })).toBe('Text copied: 1,200 characters.')
    expect(copiedNote({ text: '�', isExact: false })).toContain('some bytes are missing')
  })

  test('a token with an unknown text is marked as inexact', () => {
    expect(selectedText({ ...sample, vocab: {} }, single(0)).isExact).toBe(false)
  })

  test('a copy is exact if and only if its text has the bytes of the tokens', () => {
    const entries: readonly VocabEntry[] = [
      'a',
      ' é',
      '\r\n',
      '\u200b',
      '\ufffd',
      '',
      { hex: 'e6' },
      { hex: '97a5' },
      { hex: 'ff' },
    ]
    const vocab = Object.fromEntries(entries.map((entry, id) => [id, entry]))
    fc.assert(
      fc.property(fc.array(fc.nat(entries.length - 1), { minLength: 1, maxLength: 12 }), (ids) => {
        const trajectory = { ...sample, vocab, segments: [{ kind: 'prompt' as const, ids, messages: [] }] }
        const { text, isExact } = selectedText(trajectory, { anchor: 0, focus: ids.length - 1 })
        const bytes = ids.flatMap((id) => [...bytesOf(entries[id] as VocabEntry)])
        expect(isExact).toBe(Buffer.from(text).equals(Buffer.from(bytes)))
      }),
    )
  })

  test('ids, hex and JSON contain the selected range, across segments', () => {
    expect([...selectedIds(sample, { anchor: 4, focus: 1 })]).toEqual([3, 2, 9, 5])
    expect(selectedHex(sample, { anchor: 4, focus: 6 })).toBe('E6 97 A5 61 31')
    expect(selectedHex({ ...sample, vocab: {} }, { anchor: 0, focus: 1 })).toBe('⟨1⟩ ⟨3⟩')
    expect(JSON.parse(selectedJson(sample, { anchor: 2, focus: 4 }))).toEqual([
      { index: 2, id: 2, text: '<end>', mask: 0, logprob: -3 },
      { index: 3, id: 9, text: '<think>', mask: 1, logprob: -0.5 },
      { index: 4, id: 5, hex: 'e697', mask: 1, logprob: -0.25 },
    ])
  })
})

describe('folding in the token view', () => {
  const sets = ({ segments, thinks }: typeof NO_FOLDS) => [[...segments], [...thinks]]
  test('a token folds its think block, else its segment, and the second time unfolds it', () => {
    const think = foldToggledAt(NO_FOLDS, sample, 4)
    expect(sets(think)).toEqual([[], [3]])
    expect(sets(foldToggledAt(think, sample, 4))).toEqual([[], []])
    expect(sets(foldToggledAt(NO_FOLDS, sample, 0))).toEqual([[0], []])
    const both = foldToggledAt(think, sample, 7)
    expect(sets(both)).toEqual([[1], [3]])
    // The blocks of a folded segment are hidden, so the segment is unfolded.
    expect(sets(foldToggledAt(both, sample, 4))).toEqual([[], [3]])
    expect(foldToggledAt(both, sample, -1)).toBe(both)
  })

  test('unfolding at a token shows the token and keeps the other folds', () => {
    fc.assert(
      fc.property(fc.nat(tokenCount(sample) - 1), fc.array(fc.nat(tokenCount(sample) - 1)), (index, folded) => {
        const folds = folded.reduce((known, at) => foldToggledAt(known, sample, at), NO_FOLDS)
        const unfolded = unfoldedAt(folds, sample, index)
        expect(unfoldedAt(unfolded, sample, index)).toBe(unfolded)
        expect(folds.segments.size - unfolded.segments.size).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('all segments and all think blocks are folded and unfolded', () => {
    const all = allToggled(NO_FOLDS, sample)
    expect(sets(all)).toEqual([sample.segments.map((_, index) => index), []])
    expect(sets(allToggled(all, sample))).toEqual([[], []])
    const thinks = thinksToggled(NO_FOLDS, sample)
    expect(thinks.thinks.has(3)).toBe(true)
    expect(thinksToggled(thinks, sample).thinks.size).toBe(0)
  })
})

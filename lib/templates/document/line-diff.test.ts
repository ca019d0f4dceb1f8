import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineDiff, withChangedWords, withGaps } from './line-diff.ts'

const drawn = (left: string, right: string): string =>
  lineDiff(left, right)
    .map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`)
    .join('|')

const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'))

test('a line diff has a changed line as one removed and one added, between equal lines', () => {
  expect(drawn('a\nb\nc', 'a\nx\nc')).toBe(' a|-b|+x| c')
  expect(drawn('a', 'a\nb')).toBe(' a|+b')
  expect(drawn('', 'a')).toBe('-|+a')
})

test('a line diff has all lines of each side in order and numbered, with the fewest edits', () => {
  fc.assert(
    fc.property(text, text, (left, right) => {
      const lines = lineDiff(left, right)
      const side = (other: 'removed' | 'added') => lines.filter(({ kind }) => kind !== other)
      expect(side('added').map((line) => line.text)).toEqual(left.split('\n'))
      expect(side('removed').map((line) => line.text)).toEqual(right.split('\n'))
      expect(side('added').map((line) => line.left)).toEqual(left.split('\n').map((_, i) => i + 1))
      expect(side('removed').map((line) => line.right)).toEqual(right.split('\n').map((_, i) => i + 1))
      expect(lines.filter(({ kind }) => kind === 'same').length).toBe(
        longestCommon(left.split('\n'), right.split('\n')),
      )
    }),
  )
})

test('a line diff replaces texts as a whole if nothing between their common start and end is equal', () => {
  const many = (sign: string) => Array.from({ length: 1_500 }, (_, i) => `${sign}${i}`).join('\n')
  const lines = lineDiff(`x\n${many('a')}\ny\nz`, `x\n${many('b')}\n${many('c')}\ny\nz`)
  expect(lines).toHaveLength(4_503)
  expect([...lines.slice(0, 1), ...lines.slice(-2)].map(({ kind, left, right }) => [kind, left, right])).toEqual([
    ['same', 1, 1],
    ['same', 1502, 3002],
    ['same', 1503, 3003],
  ])
})

/** Returns the lines with changed words in `[…]`; a line without marks differs as a whole. */
const marked = (left: string, right: string): readonly string[] =>
  withChangedWords(lineDiff(left, right)).map(
    ({ kind, text, parts }) =>
      ({ same: ' ', removed: '-', added: '+' })[kind] +
      (parts?.map((part) => (part.isChanged ? `[${part.text}]` : part.text)).join('') ?? text),
  )

test('the changed words of a line are marked, spaces included', () => {
  expect(marked('a\n<|im_start|>user hello\nz', 'a\n<|im_start|>tool hello \nz')).toEqual([
    ' a',
    '-<|im_start|>[user] hello',
    '+<|im_start|>[tool] hello[ ]',
    ' z',
  ])
})

test('a line is compared with a similar one, and with none if there is none', () => {
  expect(marked('the cat sat', 'a new line\nthe dog sat')).toEqual(['-the [cat] sat', '+a new line', '+the [dog] sat'])
  expect(marked('one two', 'three four')).toEqual(['-one two', '+three four'])
})

test('marked parts are the whole line, and without the marked ones both lines are equal', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '<', 'é', '\u{1f600}'), maxLength: 30 })
  fc.assert(
    fc.property(line, line, (left, right) => {
      const [removed, added] = withChangedWords(lineDiff(left, right))
      if (!removed?.parts || !added?.parts) return
      const unchanged = (parts: typeof removed.parts) =>
        parts?.flatMap((part) => (part.isChanged ? [] : [part.text])).join('')
      expect([removed, added].map(({ parts }) => parts?.map(({ text }) => text).join(''))).toEqual([left, right])
      expect(unchanged(removed.parts)).toBe(unchanged(added.parts))
    }),
  )
})

test('a line of a hundred thousand letters is marked between its common start and end', () => {
  const words = (sign: string) => Array.from({ length: 20_000 }, (_, i) => `${sign}${i % 7} same`).join(' ')
  expect(marked(`start ${words('a')} end`, `start ${words('b')} end`).map((text) => text.slice(0, 9))).toEqual([
    '-start [a',
    '+start [b',
  ])
})

test('runs of equal lines become gaps with their length', () => {
  const left = Array.from({ length: 20 }, (_, i) => String(i)).join('\n')
  const shown = withGaps(lineDiff(left, left.replace('10', 'x')), 2)
  expect(shown.map((line) => (line.kind === 'gap' ? `…${line.count}` : line.text))).toEqual([
    '…8',
    '8',
    '9',
    '10',
    'x',
    '11',
    '12',
    '…7',
  ])
})

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let above = b.map(() => 0).concat(0)
  for (const line of a) {
    const row = [0]
    b.forEach((other, j) => {
      row.push(line === other ? (above[j] as number) + 1 : Math.max(above[j + 1] as number, row[j] as number))
    })
    above = row
  }
  return above.at(-1) as number
}

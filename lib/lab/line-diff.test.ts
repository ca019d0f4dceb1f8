import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineDiff, withGaps } from './line-diff.ts'

const drawn = (left: string, right: string): string =>
  lineDiff(left, right)
    .map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`)
    .join('|')

const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'))

test('a changed line is one removed and one added; what surrounds it is the same', () => {
  expect(drawn('a\nb\nc', 'a\nx\nc')).toBe(' a|-b|+x| c')
  expect(drawn('a', 'a\nb')).toBe(' a|+b')
  expect(drawn('', 'a')).toBe('-|+a')
})

test('each side is all of its own lines, in order and numbered, and the way is the shortest', () => {
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

test('texts that have nothing in common are told whole', () => {
  const many = (sign: string) => Array.from({ length: 1_500 }, (_, i) => `${sign}${i}`).join('\n')
  expect(lineDiff(many('a'), many('b'))).toHaveLength(3_000)
})

test('runs of equal lines become gaps that say how long they are', () => {
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

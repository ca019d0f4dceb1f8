import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutText } from './cut-text.ts'
import { excerpt } from './excerpt.ts'

const texts = fc.string({
  unit: fc.oneof(fc.constantFrom('a', '\n', '🙂', 'é'), fc.string({ minLength: 1, maxLength: 1 })),
  maxLength: 600,
  size: 'max',
})

test('cutText keeps a short text, and the beginning and end of a long one with the number of omitted characters', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 100, max: 400 }), (text, most) => {
      const cut = cutText(text, most)
      if (text.length <= most) {
        expect(cut).toBe(text)
        return
      }
      expect(cut.length).toBeLessThanOrEqual(most)
      const at = cut.search(/\n\[… [\d,]+ characters left out …\]\n/)
      const note = /\n\[… ([\d,]+) characters left out …\]\n/.exec(cut.slice(at)) as RegExpExecArray
      const [head, tail] = [cut.slice(0, at), cut.slice(at + note[0].length)]
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
      expect(head.length + tail.length + Number((note[1] as string).replaceAll(',', ''))).toBe(text.length)
      if (text.isWellFormed()) expect(cut.isWellFormed()).toBe(true)
    }),
  )
})

test('cutText keeps the note if the limit is below its length', () => {
  expect(cutText('abcdef', 3)).toBe('\n[… 6 characters left out …]\n')
})

test('cutText keeps surrogate pairs whole', () => {
  for (const most of [100, 101, 102, 103]) {
    const cut = cutText('🙂'.repeat(200), most)
    expect([cut.isWellFormed(), cut.length <= most]).toEqual([true, true])
  }
})

test('excerpt keeps surrogate pairs whole', () => {
  expect(['a🙂b', 'a🙂b', 'a🙂'].map((text, index) => excerpt(text, index + 2))).toEqual(['a…', 'a🙂…', 'a🙂'])
})

import { expect, test } from 'vitest'
import { resultText } from './result.ts'

test('the result has printed text before the value or the traceback, each on lines of its own', () => {
  expect(resultText({ printed: { text: 'a\nb\n' }, value: { text: '3.0' } })).toBe('a\nb\n3.0')
  expect(resultText({ printed: { text: 'no end' }, error: { text: 'Traceback …\nE\n' } })).toBe(
    'no end\nTraceback …\nE',
  )
  expect(resultText({ printed: { text: '' }, value: { text: '1' } })).toBe('1')
  expect(resultText({ printed: { text: '\n\n' } })).toBe('\n')
  expect(resultText({ printed: { text: '' } })).toBe('')
})

test('a cut result states its full size', () => {
  expect(resultText({ printed: { text: 'aé', wholeBytes: 2_000_000 }, value: { text: '1' } })).toBe(
    'aé\n[cut: 3 of 2,000,000 bytes are shown]\n1',
  )
})

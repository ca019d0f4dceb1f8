import { expect, test } from 'vitest'
import { describeCalls, parseText } from '../test-draw.ts'
import { stepAudio } from './step-audio.ts'

const call = (body: string) => `<|CALL_START|>${body}<|CALL_END|>`
const read = (text: string) => describeCalls(parseText(stepAudio, text))

test('The parser of Step-Audio reads names and JSON, even if its texts have the delimiters', () => {
  const text = `So.${call('function\nf\n{"a": "<|CALL_END|>"}')}${call('function\ng\n{}')}`
  expect(read(text)).toEqual(['f({"a":"<|CALL_END|>"})', 'g({})'])
})

test('The parser of Step-Audio refuses a call of another type, without a name or without arguments', () => {
  expect(read(call('tool\nf\n{}'))).toEqual([expect.stringContaining('where a line "function" is expected')])
  expect(read(call('function\n{}'))).toEqual([expect.stringContaining('the call has no name')])
  expect(read(call('function\nf\n'))).toEqual([expect.stringMatching(/^✗/)])
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { replyEnd } from './reply-end.ts'

const { encode, bytes } = byteTokenizer
const END = byteId('<|im_end|>')
const turn = (role: string, text: string) => `<|im_start|>${role}\n${text}<|im_end|>`
const open = '\n<|im_start|>assistant\n'

/** Returns the text after the reply. */
const behind = (read: string, reply: string, reported: string, end: number | undefined = END): string => {
  const ids = encode(reported)
  const at = replyEnd(encode(read), encode(reply), ids, end, bytes)
  return new TextDecoder().decode(Uint8Array.from(ids.slice(at).flatMap((id) => Array.from(bytes(id)))))
}

const question = turn('user', 'q') + open
const next = `\n${turn('user', 'r')}${open}`

describe('replyEnd finds the end of a reply', () => {
  test('where it ended, if it was tokenized as it was sampled', () => {
    expect(behind(question, 'a<|im_end|>', `${question}a<|im_end|>${next}`)).toBe(next)
    expect(behind(question, 'a<|im_end|>', `${question}a<|im_end|>${next}`, undefined)).toBe(next)
  })

  test('after its turn, however it and earlier turns were rewritten', () => {
    const reply = '<think>t</think>a<tool_call>{"a": 1}</tool_call><|im_end|>'
    expect(behind(question, reply, `${question}b<|im_end|>${next}`)).toBe(next)
    expect(behind(question + reply + next, 'z<|im_end|>', `${question}a<|im_end|>${next}y<|im_end|>${next}`)).toBe(next)
  })

  test('before the token that closes its turn, if the reply did not close it', () => {
    expect(behind(question, 'cut', `${question}cut<|im_end|>${next}`)).toBe(`<|im_end|>${next}`)
  })

  test('by the texts, if turns cannot be counted', () => {
    const odd = 'a<|im_end|>b<|im_end|>'
    expect(behind(question, odd, `${question}${odd}${next}`)).toBe(next)
    expect(behind(question, 'a<|im_end|>', 'no turns')).toBe('')
    expect(behind('q:', 'abc', 'q:abc+d', undefined)).toBe('+d')
    expect(behind('q:', 'abc', 'q:xyz+d', undefined)).toBe('+d')
    expect(behind('', '', 'all', undefined)).toBe('all')
  })
})

test('replyEnd is a position in the prompt for any ids', () => {
  const ids = fc.array(fc.constantFrom(END, 65, 66, 67), { maxLength: 12 })
  fc.assert(
    fc.property(ids, ids, ids, fc.constantFrom(END, undefined), (read, reply, reported, end) => {
      const at = replyEnd(read, reply, reported, end, bytes)
      expect(at >= 0 && at <= reported.length).toBe(true)
      const exact = replyEnd(read, reply, [...read, ...reply, ...reported], undefined, bytes)
      if (reported.length === 0) expect(exact).toBe(read.length + reply.length)
    }),
  )
})

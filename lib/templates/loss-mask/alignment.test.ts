import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { align } from './alignment.ts'

/** Returns the bytes that a token spells: 97 spells a, 9798 spells ab. */
const bytes = (id: number): Uint8Array =>
  Uint8Array.from(id < 1000 ? [id] : (String(id).match(/../g) as string[]).map(Number))
const spelled = (ids: readonly number[]) => ({ ids, bytes })
const blocks = (a: readonly number[], b: readonly number[]) =>
  align(spelled(a), spelled(b)).map(({ kind, a, b }) => `${kind} ${a.join('-')} ${b.join('-')}`)
const text = (content: string) => ({ ids: byteTokenizer.encode(content), bytes: byteTokenizer.bytes })

describe('the alignment of two sequences', () => {
  test('is one block if they are equal', () => {
    expect(blocks([65, 66, 67], [65, 66, 67])).toEqual(['same 0-3 0-3'])
    expect(blocks([], [])).toEqual([])
    expect(blocks([65], [])).toEqual([])
  })

  test('contains the ids that occur once in both, in order', () => {
    expect(blocks([65, 66, 67, 68], [65, 70, 66, 71, 68])).toEqual(['same 0-1 0-1', 'same 1-2 2-3', 'same 3-4 4-5'])
    expect(blocks([66, 65, 70], [65, 66, 71])).toEqual(['same 1-2 0-1'])
  })

  test('contains stretches that spell the same bytes in other tokens', () => {
    expect(blocks([65, 6667, 68], [65, 66, 67, 68])).toEqual(['same 0-1 0-1', 'bytes 1-2 1-3', 'same 2-3 3-4'])
    expect(blocks([6566, 67, 80, 6970], [65, 6667, 81, 69, 70])).toEqual(['bytes 0-2 0-2', 'bytes 3-4 3-5'])
  })

  test('pairs nothing that differs', () => {
    expect(blocks([65, 66], [67, 68])).toEqual([])
    expect(blocks([6566], [65, 67])).toEqual([])
  })
})

test('aligned blocks are in order and spell the same bytes', () => {
  const ids = fc.array(fc.constantFrom(65, 66, 67, 68, 6566, 6667, 656667), { maxLength: 30 })
  fc.assert(
    fc.property(ids, ids, (a, b) => {
      let [atA, atB] = [0, 0]
      for (const block of align(spelled(a), spelled(b))) {
        expect(block.a[0]).toBeGreaterThanOrEqual(atA)
        expect(block.b[0]).toBeGreaterThanOrEqual(atB)
        ;[atA, atB] = [block.a[1], block.b[1]]
        const [own, other] = [a.slice(...block.a), b.slice(...block.b)]
        if (block.kind === 'same') expect(own).toEqual(other)
        expect(own.flatMap((id) => [...bytes(id)])).toEqual(other.flatMap((id) => [...bytes(id)]))
      }
    }),
  )
})

test('a stretch that one side lacks leaves everything around it aligned', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (left, right) => {
      const [a, b] = [text(`${left}<think>gone</think>${right}`), text(left + right)]
      const held = align(a, b).reduce((sum, block) => sum + block.b[1] - block.b[0], 0)
      expect(held).toBe(b.ids.length)
    }),
  )
})

test('the time of an alignment grows with the length, not with its square', () => {
  const words = (count: number, seed: number) =>
    Array.from({ length: count }, (_, index) => 1000 + ((index * 7919 + (index % 13 === 0 ? seed : 0)) % 5000))
  // This is the CPU time of the thread: the wall clock also runs while other threads have the processor.
  const microseconds = (count: number, times: number): number => {
    const [a, b] = [words(count, 1), words(count, 2)]
    const started = process.threadCpuUsage()
    for (let done = 0; done < times; done += 1) align(spelled(a), spelled(b))
    const { user, system } = process.threadCpuUsage(started)
    return user + system
  }
  microseconds(2000, 5)
  expect(microseconds(30_000, 3) / microseconds(3000, 30)).toBeLessThan(5)
})

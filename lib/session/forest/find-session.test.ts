import { describe, expect, test } from 'vitest'
import { findSession } from './find-session.ts'
import { CONTEXT, history, type WrittenForest, writtenForest } from './test-forests.ts'

describe('The session of a call', () => {
  const first = writtenForest()
  first.add('s:x u:a', '1')
  first.add('s:x u:a a:1 t:r', '2')
  const second = writtenForest()
  second.add('s:x u:a', '1')
  const strict = writtenForest(new Set())
  strict.add('s:z u:a', '1')
  const sessions = (...written: readonly (readonly [string, WrittenForest])[]) =>
    written.map(([id, { forest }]) => ({ id, forest }))
  const all = sessions(['first', first], ['second', second], ['strict', strict])
  const found = (words: string, context = CONTEXT) => findSession({ messages: history(words), context }, all)

  test('is the one with the longest recorded history at its beginning', () => {
    expect(found('s:x u:a a:1 t:r a:2 u:b')).toBe('first')
    expect(found('s:z u:a a:1 u:b')).toBe('strict')
  })

  test('is the latest one of several with the same history', () => {
    expect(found('s:x u:a a:1 u:b')).toBe('second')
    expect(found('s:x u:a')).toBe('second')
  })

  test('is the one whose prompt it repeats', () => {
    expect(found('s:x u:a a:1 t:r')).toBe('first')
  })

  test('is new for a new root, other tools or the first call', () => {
    expect(found('s:x u:b')).toBeUndefined()
    expect(found('s:x u:a a:1 u:b', { ...CONTEXT, tools: 'others' })).toBeUndefined()
    expect(findSession({ messages: history('u:a'), context: CONTEXT }, [])).toBeUndefined()
  })
})

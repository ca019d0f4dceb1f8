import { describe, expect, test } from 'vitest'
import type { FoundSession } from './find-session.ts'
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
  const found = (words: string, named?: string, context = CONTEXT): FoundSession =>
    findSession({ messages: history(words), context }, named, all)

  test('is the one that the client names, whatever the history is', () => {
    expect(found('s:x u:a a:1 t:r a:2 u:b', 'mine')).toEqual({ kind: 'named', id: 'mine' })
  })

  test('is the one with the longest recorded history at its beginning', () => {
    expect(found('s:x u:a a:1 t:r a:2 u:b')).toEqual({ kind: 'matched', id: 'first' })
    expect(found('s:z u:a a:1 u:b')).toEqual({ kind: 'matched', id: 'strict' })
  })

  test('is the latest one of several with the same history', () => {
    expect(found('s:x u:a a:1 u:b')).toEqual({ kind: 'matched', id: 'second' })
    expect(found('s:x u:a')).toEqual({ kind: 'matched', id: 'second' })
  })

  test('is the one whose prompt it repeats', () => {
    expect(found('s:x u:a a:1 t:r')).toEqual({ kind: 'matched', id: 'first' })
  })

  test('is new for a new root, other tools or the first call', () => {
    expect(found('s:x u:b')).toEqual({ kind: 'new' })
    expect(found('s:x u:a a:1 u:b', undefined, { ...CONTEXT, tools: 'others' })).toEqual({ kind: 'new' })
    expect(findSession({ messages: history('u:a'), context: CONTEXT }, undefined, [])).toEqual({ kind: 'new' })
  })
})

import { describe, expect, test } from 'vitest'
import { beginningKey, findSession } from './find-session.ts'
import { CONTEXT, history, type WrittenForest, writtenForest } from './test-forests.ts'

describe('The session of a call', () => {
  const first = writtenForest()
  first.add('s:x u:a', '1')
  first.add('s:x u:a a:1 t:r', '2')
  const second = writtenForest()
  second.add('s:x u:a', '1')
  const strict = writtenForest(new Set())
  strict.add('s:z u:a', '1')
  const sessions = (takesRetries: boolean, ...written: readonly (readonly [string, WrittenForest])[]) =>
    written.map(([id, { forest }]) => ({ id, forest, takesRetries }))
  const all = sessions(true, ['first', first], ['second', second], ['strict', strict])
  const found = (words: string, context = CONTEXT) => findSession({ messages: history(words), context }, all)

  test('is the one with the longest recorded history at its beginning', () => {
    expect(found('s:x u:a a:1 t:r a:2 u:b')).toBe('first')
    expect(found('s:z u:a a:1 u:b')).toBe('strict')
  })

  test('is the latest one of several with the same history', () => {
    expect(found('s:x u:a a:1 u:b')).toBe('second')
    expect(found('s:x u:a')).toBe('second')
  })

  test('is the latest one with the same replies, although an earlier one has the whole prompt', () => {
    expect(found('s:x u:a a:1 t:r')).toBe('second')
    const reversed = sessions(true, ['second', second], ['first', first])
    expect(findSession({ messages: history('s:x u:a a:1 t:r'), context: CONTEXT }, reversed)).toBe('first')
  })

  test('is new for a new root, other tools or the first call', () => {
    expect(found('s:x u:b')).toBeUndefined()
    expect(found('s:x u:a a:1 u:b', { ...CONTEXT, tools: 'others' })).toBeUndefined()
    expect(findSession({ messages: history('u:a'), context: CONTEXT }, [])).toBeUndefined()
  })

  test('is new for a first prompt that sessions have which take no retries, and not for a history with a reply', () => {
    const old = sessions(false, ['first', first], ['second', second])
    const foundIn = (words: string) => findSession({ messages: history(words), context: CONTEXT }, old)
    expect(foundIn('s:x u:a')).toBeUndefined()
    expect([foundIn('s:x u:a a:1 t:r'), foundIn('s:x u:a a:1 t:r a:2 u:b')]).toEqual(['second', 'first'])
  })
})

describe('The key of the beginning of a history', () => {
  const key = (words: string, context = CONTEXT) => beginningKey({ messages: history(words), context })

  test('is that of every history with the same system prompt and the same message after it', () => {
    expect(new Set(['s:x u:a', 's:x u:a a:1', 's:x u:a u:b a:1 t:r'].map((words) => key(words))).size).toBe(1)
    expect(new Set(['s:x', 's:x a:1', 's:x a:1 u:b'].map((words) => key(words))).size).toBe(1)
  })

  test('differs with the system prompt, the message after it, the tools and the template', () => {
    const others = [
      key('s:x u:a'),
      key('u:a'),
      key('s:x u:b'),
      key('s:y u:a'),
      key('s:x u:a', { ...CONTEXT, tools: 'others' }),
      key('s:x u:a', { ...CONTEXT, template: 'another' }),
    ]
    expect(new Set(others).size).toBe(others.length)
  })
})

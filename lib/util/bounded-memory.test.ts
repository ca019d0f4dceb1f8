import { expect, test } from 'vitest'
import { createMemory } from './bounded-memory.ts'

test('createMemory keeps the most recently used entries up to its weight', () => {
  const memory = createMemory<string>(10)
  for (const key of ['a', 'b']) memory.set(key, key, 4)
  expect(memory.get('a')).toBe('a')
  memory.set('c', 'c', 4)
  expect(['a', 'b', 'c'].map((key) => memory.get(key))).toEqual(['a', undefined, 'c'])
  memory.set('heavy', 'heavy', 100)
  expect(['a', 'c', 'heavy'].map((key) => memory.get(key))).toEqual([undefined, undefined, 'heavy'])
})

test('createMemory frees the weight of deleted entries and ignores unknown keys', () => {
  const memory = createMemory<string>(10)
  for (const key of ['a', 'b']) memory.set(key, key, 5)
  memory.delete('a')
  memory.delete('nothing')
  memory.set('c', 'c', 5)
  expect(['a', 'b', 'c'].map((key) => memory.get(key))).toEqual([undefined, 'b', 'c'])
})

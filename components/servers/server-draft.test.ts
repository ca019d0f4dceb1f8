import { describe, expect, test } from 'vitest'
import type { ServerEntry } from '#lib/api/server-status.ts'
import { draftOf, EMPTY_DRAFT, inputOf, keyFate, type ServerDraft } from './server-draft.ts'

const saved: ServerEntry = { name: 'gpu', baseUrl: 'http://10.0.0.1:30000', source: 'saved', hasKey: true }
const changed = (changes: Partial<ServerDraft>) => ({ ...draftOf(saved), ...changes })

test('a form begins with what is saved, never with a key', () => {
  expect(draftOf(saved)).toEqual({ name: 'gpu', baseUrl: 'http://10.0.0.1:30000', apiKey: '', removesKey: false })
})

describe('the key that is kept', () => {
  test.each<[string, Partial<ServerDraft>, string]>([
    ['stays', {}, 'kept'],
    ['stays under another name', { name: 'x' }, 'kept'],
    ['stays at another path', { baseUrl: 'http://10.0.0.1:30000/v2' }, 'kept'],
    ['stays in another spelling of the origin', { baseUrl: ' HTTP://10.0.0.1:30000/ ' }, 'kept'],
    ['goes with another host', { baseUrl: 'http://10.0.0.2:30000' }, 'dropped'],
    ['goes with another port', { baseUrl: 'http://10.0.0.1' }, 'dropped'],
    ['goes with another scheme', { baseUrl: 'https://10.0.0.1:30000' }, 'dropped'],
    ['is not spoken of while the address is typed', { baseUrl: 'htt' }, 'kept'],
    ['is replaced', { apiKey: 'sk-2' }, 'given'],
    ['is given for another host', { apiKey: 'sk-2', baseUrl: 'http://10.0.0.2' }, 'given'],
    ['is removed', { removesKey: true }, 'removed'],
  ])('%s', (_, changes, fate) => {
    expect(keyFate(changed(changes), saved)).toBe(fate)
  })

  test('is none of a new server, or of one without', () => {
    expect(keyFate({ ...EMPTY_DRAFT, baseUrl: 'http://a' }, undefined)).toBe('none')
    expect(keyFate(changed({ baseUrl: 'http://a' }), { ...saved, hasKey: false })).toBe('none')
  })
})

test('what is sent says of the key only what was decided', () => {
  expect(inputOf(changed({ name: ' gpu ' }), saved)).toEqual({ name: 'gpu', baseUrl: saved.baseUrl })
  expect(inputOf(changed({ apiKey: 'sk-2 ' }), saved)).toMatchObject({ apiKey: 'sk-2' })
  expect(inputOf(changed({ removesKey: true }), saved)).toMatchObject({ apiKey: null })
  expect(inputOf(changed({ baseUrl: 'http://a' }), saved)).not.toHaveProperty('apiKey')
})

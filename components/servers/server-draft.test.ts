import { describe, expect, test } from 'vitest'
import type { ServerEntry } from '#lib/api/server-status.ts'
import { EMPTY_DRAFT, keyFate, type ServerDraft, serverDraftOf, serverInputOf } from './server-draft.ts'

const saved: ServerEntry = { name: 'gpu', baseUrl: 'http://10.0.0.1:30000', source: 'saved', hasKey: true }
const changed = (changes: Partial<ServerDraft>) => ({ ...serverDraftOf(saved), ...changes })

test('the draft of a saved server begins with its name and address, and without its key', () => {
  expect(serverDraftOf(saved)).toEqual({ name: 'gpu', baseUrl: 'http://10.0.0.1:30000', apiKey: '', removesKey: false })
})

describe('the stored key of a server', () => {
  test.each<[string, Partial<ServerDraft>, string]>([
    ['is kept without changes', {}, 'kept'],
    ['is kept under another name', { name: 'x' }, 'kept'],
    ['is kept at another path', { baseUrl: 'http://10.0.0.1:30000/v2' }, 'kept'],
    ['is kept with another spelling of the origin', { baseUrl: ' HTTP://10.0.0.1:30000/ ' }, 'kept'],
    ['is dropped with another host', { baseUrl: 'http://10.0.0.2:30000' }, 'dropped'],
    ['is dropped with another port', { baseUrl: 'http://10.0.0.1' }, 'dropped'],
    ['is dropped with another scheme', { baseUrl: 'https://10.0.0.1:30000' }, 'dropped'],
    ['is kept while the address is incomplete', { baseUrl: 'htt' }, 'kept'],
    ['is replaced by a new key', { apiKey: 'sk-2' }, 'given'],
    ['is replaced by a key for another host', { apiKey: 'sk-2', baseUrl: 'http://10.0.0.2' }, 'given'],
    ['is removed', { removesKey: true }, 'removed'],
  ])('%s', (_, changes, fate) => {
    expect(keyFate(changed(changes), saved)).toBe(fate)
  })

  test('is not mentioned for a new server, or for one without a key', () => {
    expect(keyFate({ ...EMPTY_DRAFT, baseUrl: 'http://a' }, undefined)).toBe('none')
    expect(keyFate(changed({ baseUrl: 'http://a' }), { ...saved, hasKey: false })).toBe('none')
  })
})

test('the input that saves a server contains the key only if it changes', () => {
  expect(serverInputOf(changed({ name: ' gpu ' }), saved)).toEqual({ name: 'gpu', baseUrl: saved.baseUrl })
  expect(serverInputOf(changed({ apiKey: 'sk-2 ' }), saved)).toMatchObject({ apiKey: 'sk-2' })
  expect(serverInputOf(changed({ removesKey: true }), saved)).toMatchObject({ apiKey: null })
  expect(serverInputOf(changed({ baseUrl: 'http://a' }), saved)).not.toHaveProperty('apiKey')
})

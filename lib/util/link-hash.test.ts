import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hashOfJson, textOfHash } from './link-hash.ts'

test('textOfHash returns the JSON of hashOfJson for the same kind of link only', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (json) => {
      const hash = await hashOfJson(json, 'lab')
      expect(hash).toMatch(/^#lab=[\w-]+$/)
      const address = `http://127.0.0.1:3000/templates?part=tools${hash}`
      const opened = await textOfHash(address, 'lab')
      expect(opened.kind === 'text' && JSON.parse(opened.text)).toEqual(JSON.parse(json))
      expect(await textOfHash(address, 'setup')).toEqual({ kind: 'none' })
    }),
  )
})

test('textOfHash refuses a link that expands a thousandfold before it expands it', async () => {
  const bomb = deflateRawSync(Buffer.alloc(64 << 20)).toString('base64url')
  expect(bomb.length).toBeLessThan(100_000)
  expect(await textOfHash(`#setup=${bomb}`, 'setup')).toEqual({ kind: 'broken', why: 'it is larger than 1 MiB' })
})

test('textOfHash refuses a truncated link instead of reading a part', async () => {
  const hash = (await hashOfJson(JSON.stringify({ messages: 'What is 25 * 17? '.repeat(9) }), 'lab')) as string
  for (let length = '#lab='.length; length < hash.length; length++)
    expect(await textOfHash(hash.slice(0, length), 'lab')).toEqual({
      kind: 'broken',
      why: 'it is truncated or was changed',
    })
})

describe('textOfHash of a broken link', () => {
  test.each([
    ['of another kind', 'http://127.0.0.1:3000/?t=1', { kind: 'none' }],
    ['with odd characters', '#setup=a%20b', { kind: 'broken', why: expect.stringContaining('characters') }],
    ['of no length that there is', '#setup=abcde', { kind: 'broken' }],
    ['that was cut off', '#setup=7Z', { kind: 'broken', why: expect.stringContaining('truncated') }],
    [
      'that is a bomb',
      `#setup=${deflateRawSync(Buffer.alloc(64 << 20)).toString('base64url')}`,
      { kind: 'broken', why: expect.stringContaining('1 MiB') },
    ],
  ])('reports %s', async (_, address, found) => {
    expect(await textOfHash(address, 'setup')).toMatchObject(found)
  })
})

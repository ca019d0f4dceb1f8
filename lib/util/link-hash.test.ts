import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hashOfJson, textOfHash } from './link-hash.ts'

test('JSON comes out of a link as it went in, and no other kind of link has it', async () => {
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

test('a link that holds a thousand times its length is refused before it is unpacked', async () => {
  const bomb = deflateRawSync(Buffer.alloc(64 << 20)).toString('base64url')
  expect(bomb.length).toBeLessThan(100_000)
  expect(await textOfHash(`#setup=${bomb}`, 'setup')).toEqual({ kind: 'broken', why: 'it is larger than 1 MiB' })
})

test('a link that was cut anywhere is refused, never read in part', async () => {
  const hash = (await hashOfJson(JSON.stringify({ messages: 'What is 25 * 17? '.repeat(9) }), 'lab')) as string
  for (let length = '#lab='.length; length < hash.length; length++)
    expect(await textOfHash(hash.slice(0, length), 'lab')).toEqual({
      kind: 'broken',
      why: 'it is cut off, or was changed',
    })
})

describe('a link that cannot be opened', () => {
  test.each([
    ['of another kind', 'http://127.0.0.1:3000/?t=1', { kind: 'none' }],
    ['with odd characters', '#setup=a%20b', { kind: 'broken', why: expect.stringContaining('characters') }],
    ['of no length that there is', '#setup=abcde', { kind: 'broken' }],
    ['that was cut off', '#setup=7Z', { kind: 'broken', why: expect.stringContaining('cut off') }],
    [
      'that is a bomb',
      `#setup=${deflateRawSync(Buffer.alloc(64 << 20)).toString('base64url')}`,
      { kind: 'broken', why: expect.stringContaining('1 MiB') },
    ],
  ])('%s is told', async (_, address, found) => {
    expect(await textOfHash(address, 'setup')).toMatchObject(found)
  })
})

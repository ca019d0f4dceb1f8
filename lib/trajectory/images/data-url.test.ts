import { expect, test } from 'vitest'
import { LIMITS } from '#lib/util/limits.ts'
import { IMAGES, PNG_URL } from '#testing/images.ts'
import { readDataUrl } from './data-url.ts'

test('a data URL is read with the type, the size and the number of bytes of its image', () => {
  expect(readDataUrl(PNG_URL)).toEqual({
    ok: true,
    header: { type: 'image/png', width: 6, height: 4 },
    bytes: Buffer.from(IMAGES.png, 'base64').length,
    url: PNG_URL,
  })
})

test('an image is shown with the type of its bytes, whatever its data URL declares', () => {
  const read = readDataUrl(`data:text/html;charset=utf-8;base64,${IMAGES.gif}`)
  expect(read.ok && read.url).toBe(`data:image/gif;base64,${IMAGES.gif}`)
  expect(read.ok && read.bytes).toBe(Buffer.from(IMAGES.gif, 'base64').length)
})

test('the size of a JPEG image is found behind a long comment', () => {
  const jpeg = Buffer.from(IMAGES.jpeg, 'base64')
  const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0xff, 0xff]), Buffer.alloc(0xfffd)])
  const long = Buffer.concat([jpeg.subarray(0, 2), comment, comment, jpeg.subarray(2)])
  const read = readDataUrl(`data:image/jpeg;base64,${long.toString('base64')}`)
  expect(read.ok && read.header).toEqual({ type: 'image/jpeg', width: 6, height: 4 })
})

const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>').toString('base64')
const large = Buffer.from(IMAGES.png, 'base64')
large.writeUInt32BE(40_000, 16)
large.writeUInt32BE(40_000, 20)

test.each([
  ['an address', 'https://example.com/a.png', 'It is no data URL, and addresses are never fetched.'],
  ['a path', 'file:///etc/passwd,', 'It is no data URL, and addresses are never fetched.'],
  ['a script', 'javascript:alert(1),base64', 'It is no data URL, and addresses are never fetched.'],
  ['a data URL without a comma', 'data:image/png;base64', 'It is no data URL, and addresses are never fetched.'],
  ['a data URL with percent signs', 'data:image/png,%89PNG', 'Its data URL is not in base64.'],
  ['base64 with other characters', 'data:image/png;base64,AA A', 'Its base64 is damaged.'],
  ['base64 that ends early', 'data:image/png;base64,AAA', 'Its base64 is damaged.'],
  ['SVG, whatever it declares', `data:image/svg+xml;base64,${svg}`, 'Its bytes are no PNG, JPEG, WebP or GIF image.'],
  ['SVG that declares to be PNG', `data:image/png;base64,${svg}`, 'Its bytes are no PNG, JPEG, WebP or GIF image.'],
  [
    'an image with more pixels than the limit',
    `data:image/png;base64,${large.toString('base64')}`,
    'It has 40,000 × 40,000 pixels, more than the limit of 100,000,000.',
  ],
  [
    'an image with more bytes than the limit',
    `data:image/png;base64,${Buffer.alloc(LIMITS.imageBytes + 1).toString('base64')}`,
    'It has 16,777,217 bytes, more than the limit of 16 MiB for one image.',
  ],
])('no image is read from %s', (_, url, why) => {
  expect(readDataUrl(url)).toEqual({ ok: false, why })
})

import { expect, test } from 'vitest'
import { IMAGES } from '#testing/images.ts'
import { imageHeader } from './image-header.ts'

const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'))

test.each([
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
  ['jpegProgressive', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webpLossy', 'image/webp'],
  ['webpLossless', 'image/webp'],
  ['webpExtended', 'image/webp'],
] as const)('the header of a %s image has its type and size', (name, type) => {
  expect(imageHeader(bytesOf(IMAGES[name]))).toEqual({ type, width: 6, height: 4 })
})

test('the header of an image inside of a larger buffer is found', () => {
  const bytes = bytesOf(`AAAA${IMAGES.png}`)
  expect(imageHeader(bytes.subarray(3))).toEqual({ type: 'image/png', width: 6, height: 4 })
})

test('no header is read from an image that is cut off anywhere before its size', () => {
  for (const base64 of Object.values(IMAGES)) {
    const bytes = bytesOf(base64)
    const shortest = Array.from({ length: bytes.length }, (_, length) => length).find((length) =>
      imageHeader(bytes.subarray(0, length)),
    )
    expect(shortest).toBeGreaterThan(9)
    for (let length = 0; length < (shortest ?? 0); length++)
      expect(imageHeader(bytes.subarray(0, length))).toBeUndefined()
  }
})

test.each([
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
  ['XML with SVG', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['HTML', '<!doctype html><img src=x onerror=alert(1)>'],
  ['a PDF', '%PDF-1.7'],
  ['nothing', ''],
])('%s is no image', (_, text) => {
  expect(imageHeader(new TextEncoder().encode(text))).toBeUndefined()
})

test('an image without width or height is no image', () => {
  const png = bytesOf(IMAGES.png)
  png.fill(0, 16, 20)
  expect(imageHeader(png)).toBeUndefined()
  const gif = bytesOf(IMAGES.gif)
  gif.fill(0, 8, 10)
  expect(imageHeader(gif)).toBeUndefined()
})

test('the header of a JPEG image is found after fill bytes, and is refused with bytes between its segments', () => {
  const jpeg = bytesOf(IMAGES.jpeg)
  const filled = Uint8Array.from([0xff, 0xd8, 0xff, 0xff, ...jpeg.subarray(2)])
  expect(imageHeader(filled)).toEqual({ type: 'image/jpeg', width: 6, height: 4 })
  const odd = Uint8Array.from(jpeg)
  odd[2 + 2 + 16] = 0
  expect(imageHeader(odd)).toBeUndefined()
})

test('a WebP image with an unknown first chunk is no image', () => {
  const webp = bytesOf(IMAGES.webpLossy)
  webp.set(new TextEncoder().encode('ALPH'), 12)
  expect(imageHeader(webp)).toBeUndefined()
})

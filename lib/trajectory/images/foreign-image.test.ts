import { expect, test } from 'vitest'
import { PNG_URL } from '#testing/images.ts'
import { readForeignMessage } from '../messages/foreign-message.ts'
import { foreignImage } from './foreign-image.ts'

const image = { type: 'image', image: PNG_URL }
const data = PNG_URL.slice(PNG_URL.indexOf(',') + 1)

test.each<[string, object, object]>([
  ['chat completions', { type: 'image_url', image_url: { url: PNG_URL, detail: 'low' } }, image],
  ['chat completions with a text', { type: 'image_url', image_url: PNG_URL }, image],
  ['the Responses API', { type: 'input_image', image_url: PNG_URL, detail: 'auto' }, image],
  ['Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }, image],
  [
    'Anthropic with an address',
    { type: 'image', source: { type: 'url', url: 'https://a/b.png' } },
    ref('https://a/b.png'),
  ],
  ['Anthropic with a file', { type: 'image', source: { type: 'file', file_id: 'file_1' } }, ref('file_1')],
  ['ATIF', { type: 'image', source: { media_type: 'image/png', path: 'images/a.png' } }, ref('images/a.png')],
  ['Inspect and strands-sglang', { type: 'image', image: PNG_URL }, image],
  ['Hugging Face with an address', { type: 'image', url: 'https://a/b.png' }, ref('https://a/b.png')],
  ['Hugging Face with a path', { type: 'image', path: '/a/b.png' }, ref('/a/b.png')],
  [
    'Hugging Face with bytes',
    { type: 'image', base64: data },
    { type: 'image', image: `data:application/octet-stream;base64,${data}` },
  ],
  ['Strands', { image: { format: 'png', source: { bytes: data } } }, image],
  ['a session of Strands', { image: { format: 'png', source: { bytes: { __bytes_encoded__: true, data } } } }, image],
  [
    'a dataset, with bytes and a path',
    { type: 'image', image: { bytes: data, path: 'a.png' } },
    { type: 'image', image: `data:application/octet-stream;base64,${data}` },
  ],
  ['a template without an image', { type: 'image' }, { type: 'image' }],
  ['values of other kinds', { type: 'image_url', image_url: 7 }, { type: 'image' }],
])('an image block of %s becomes an image part', (_, block, part) => {
  expect(foreignImage(block as Record<string, unknown>)).toEqual(part)
})

function ref(reference: string) {
  return { type: 'image', reference }
}

test('a message keeps its images in their places between texts', () => {
  const content = [
    { type: 'text', text: 'a' },
    { type: 'image_url', image_url: { url: PNG_URL } },
    { type: 'text', text: 'b' },
  ]
  expect(readForeignMessage({ role: 'user', content })).toEqual([
    { role: 'user', content: [content[0], image, content[2]] },
  ])
})

test('a tool result keeps its images and other blocks beside its text', () => {
  const content = [
    { type: 'text', text: 'a' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    { type: 'document' },
  ]
  const parts = [{ type: 'text', text: 'a' }, image, { type: 'document' }]
  expect(readForeignMessage({ role: 'tool', tool_call_id: 'c', content })).toEqual([
    { role: 'tool', callId: 'c', content: parts },
  ])
  expect(readForeignMessage({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content }] })).toEqual([
    { role: 'tool', callId: 'c', content: parts },
  ])
})

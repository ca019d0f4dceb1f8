import { expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { PNG_URL } from '#testing/images.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { writableFormats } from '../registry.ts'
import { imageMessagesBySegment } from './chat-messages.ts'
import { openaiMessagesWriter } from './openai-messages.ts'
import { verifiersWriter } from './verifiers.ts'

const content = [
  { type: 'image', image: PNG_URL },
  { type: 'text', text: 'What is this?' },
  { type: 'image', reference: 'https://a/b.png' },
  { type: 'video' },
]
const written = [
  { type: 'image_url', image_url: { url: PNG_URL } },
  { type: 'text', text: 'What is this?' },
]
const [prompt, ...rest] = sampleTrajectory.segments
const withImage: Trajectory = {
  ...sampleTrajectory,
  segments: [{ kind: 'prompt', ids: prompt?.ids ?? [], messages: [{ role: 'user', content }] }, ...rest],
}
const texts = [{ type: 'text', text: 'a' }, { type: 'image' }]

test('messages of chat completions have the images of their parts as data URLs', () => {
  expect(imageMessagesBySegment(withImage)[0]).toEqual([{ role: 'user', content: written }])
  const [first] = imageMessagesBySegment({
    ...withImage,
    segments: [{ kind: 'prompt', ids: [], messages: [{ role: 'user', content: texts }] }],
  })
  expect(first).toEqual([{ role: 'user', content: 'a' }])
})

test('a format that writes the images of messages reports no loss of them, and every other format does', () => {
  // CSV has one loss in words for everything beside its columns.
  const formats = writableFormats.filter(({ name }) => name !== 'csv')
  const kept = formats.flatMap((format) => {
    const { value, losses } = format.write(withImage)
    const isKept = JSON.stringify(value).includes(PNG_URL)
    expect([format.name, losses.includes('images')]).toEqual([format.name, !isKept])
    return isKept ? [format.name] : []
  })
  expect(kept).toEqual(['rollscope', 'strands-sglang', 'verifiers', 'openai-messages', 'template-messages'])
})

test('images of a file without messages are a listed loss of formats with messages', () => {
  for (const { write } of [openaiMessagesWriter, verifiersWriter])
    expect(write({ ...sampleTrajectory, imageData: [PNG_URL] }).losses).toContain('images')
})

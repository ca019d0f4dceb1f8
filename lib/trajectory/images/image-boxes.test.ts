import { describe, expect, test } from 'vitest'
import { JPEG_URL, PNG_URL } from '#testing/images.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Message, PromptSegment, Trajectory } from '../format/trajectory.ts'
import { partText, segmentMessages } from '../messages/message-parts.ts'
import { imageBoxesOf, imageDataOf } from './image-boxes.ts'

const [START, PAD, END, TEXT] = [1, 2, 3, 4]
const vocab = { [START]: '<|vision_start|>', [PAD]: '<|image_pad|>', [END]: '<|vision_end|>', [TEXT]: 'look' }
const png = { type: 'image', image: PNG_URL }
const jpeg = { type: 'image', image: JPEG_URL }

const user = (...content: Exclude<Message['content'], string | undefined>): Message => ({ role: 'user', content })
const prompt = (ids: readonly number[], ...messages: readonly Message[]): PromptSegment => ({
  kind: 'prompt',
  ids,
  messages,
})
const trajectory = (segments: readonly PromptSegment[], more: Partial<Trajectory> = {}): Trajectory => ({
  ...sample,
  vocab,
  model: { ...sample.model, tokenizer: { name: 't', specialIds: [START, PAD, END] } },
  segments,
  ...more,
})

/** Draws the boxes of all segments: segment, tokens, number, and the image or the reason why there is none. */
const boxes = (shown: Trajectory): string[] =>
  shown.segments.flatMap((_, index) =>
    imageBoxesOf(shown, index).map(
      ({ span, number, image }) =>
        `${index}:${span.start}-${span.end} #${number} ${image.ok ? image.header.type : image.why}`,
    ),
  )

describe('Boxes of images', () => {
  test('are the runs of placeholders, with the images of the messages in order', () => {
    const shown = trajectory([
      prompt([START, PAD, PAD, PAD, END, TEXT, START, PAD, END], user(png, { type: 'text', text: 'look' }, jpeg)),
      prompt([TEXT, START, PAD, PAD, END], user({ type: 'text', text: 'look' }, png)),
    ])
    expect(boxes(shown)).toEqual(['0:1-4 #1 image/png', '0:7-8 #2 image/jpeg', '1:2-4 #3 image/png'])
    expect(boxes(shown)).toEqual(boxes(structuredClone(shown)))
  })

  test('of adjacent images with one token each are single tokens', () => {
    expect(boxes(trajectory([prompt([PAD, PAD], user(png, jpeg))]))).toEqual([
      '0:0-1 #1 image/png',
      '0:1-2 #2 image/jpeg',
    ])
  })

  test('have no image where the numbers of images and of placeholders differ', () => {
    const why = 'It is unknown which image this is: the numbers of images and of placeholders differ.'
    expect(boxes(trajectory([prompt([PAD, PAD, TEXT, PAD, PAD], user(png))]))).toEqual([
      `0:0-2 #1 ${why}`,
      `0:3-5 #2 ${why}`,
    ])
    expect(boxes(trajectory([prompt([PAD])], { imageData: [PNG_URL, JPEG_URL] }))).toEqual([`0:0-1 #1 ${why}`])
  })

  test('have the images of a file without messages, counted through all segments', () => {
    const segments = [prompt([PAD, TEXT, PAD]), prompt([TEXT]), prompt([TEXT, PAD])]
    expect(boxes(trajectory(segments, { imageData: [PNG_URL, JPEG_URL, PNG_URL] }))).toEqual([
      '0:0-1 #1 image/png',
      '0:2-3 #2 image/jpeg',
      '2:1-2 #3 image/png',
    ])
  })

  test('have the images of the file where its messages have none', () => {
    const referred = user({ type: 'image', reference: 'https://a/b.png' }, { type: 'image' })
    expect(boxes(trajectory([prompt([PAD, TEXT, PAD], referred)], { imageData: [PNG_URL, JPEG_URL] }))).toEqual([
      '0:0-1 #1 image/png',
      '0:2-3 #2 image/jpeg',
    ])
    expect(boxes(trajectory([prompt([PAD, TEXT, PAD], referred)]))).toEqual([
      '0:0-1 #1 The file does not contain it, only its address or path: https://a/b.png. Addresses are never fetched.',
      '0:2-3 #2 The file does not contain it. Addresses are never fetched.',
    ])
  })

  test('without any image of the file say so', () => {
    expect(boxes(trajectory([prompt([PAD])]))).toEqual(['0:0-1 #1 The file contains no image for it.'])
  })

  test('are not drawn in responses, in segments that do not exist, and without a tokenizer', () => {
    const { tokenizer: _, ...model } = sample.model
    expect(boxes(trajectory([prompt([PAD], user(png))], { model }))).toEqual([])
    const response = { kind: 'response', ids: [PAD], thinks: [], toolCalls: [] } as const
    expect(imageBoxesOf({ ...trajectory([]), segments: [response] }, 0)).toEqual([])
    expect(imageBoxesOf(trajectory([]), 0)).toEqual([])
  })

  test('follow special tokens that a run adds', () => {
    const before = trajectory([prompt([PAD], user(png))], {
      model: { ...sample.model, tokenizer: { name: 't', specialIds: [START, 77] } },
    })
    expect(boxes(before)).toEqual([])
    const { model, segments } = trajectory(before.segments as PromptSegment[])
    expect(boxes({ ...before, model, segments })).toEqual(['0:0-1 #1 image/png'])
  })
})

test('a marker that no repeated placeholder follows is the place of an image', () => {
  const gemma = { [START]: '<start_of_image>', [PAD]: '<image_soft_token>', [END]: '<end_of_image>', [TEXT]: 'look' }
  const ids = [TEXT, START, TEXT, START, PAD, PAD, END, START]
  expect(boxes({ ...trajectory([prompt(ids, user(png, jpeg, png))]), vocab: gemma })).toEqual([
    '0:1-2 #1 image/png',
    '0:4-6 #2 image/jpeg',
    '0:7-8 #3 image/png',
  ])
})

test('special tokens without a known text are no placeholders', () => {
  expect(boxes({ ...trajectory([prompt([PAD], user(png))]), vocab: { [PAD]: { hex: 'ff' } } })).toEqual([])
})

test('the images of a trajectory are those of its messages, or else those of the file', () => {
  const own = trajectory([prompt([PAD], user(png, { type: 'image' })), prompt([PAD], user(jpeg))])
  expect(imageDataOf({ ...own, imageData: ['data:x'] })).toEqual([PNG_URL, JPEG_URL])
  expect(imageDataOf({ segments: [], imageData: ['data:x'] })).toEqual(['data:x'])
  expect(imageDataOf({ segments: [] })).toEqual([])
})

test('the text of an image part is the address that the file names instead', () => {
  const shown = trajectory([prompt([PAD], user({ type: 'image', reference: 'a.png' }, png))])
  const [segment] = shown.segments
  const [message] = segmentMessages(shown, 0)
  expect(segment && message?.parts.map((part) => partText(part, segment, shown))).toEqual(['a.png', ''])
})

test('the tokens of an image part are its placeholders, and unknown if their numbers differ', () => {
  const ids = [START, PAD, PAD, END, TEXT]
  const parts = (content: Message) =>
    segmentMessages(trajectory([prompt(ids, content)]), 0)[0]?.parts.map(({ kind, tokens }) => [kind, tokens])
  expect(parts(user(png, { type: 'text', text: 'look' }))).toEqual([
    ['image', { start: 1, end: 3 }],
    ['text', { start: 4, end: 5 }],
  ])
  expect(parts(user(png, jpeg, { type: 'video' }))).toEqual([
    ['image', { start: 1, end: 2 }],
    ['image', { start: 2, end: 3 }],
    ['other', undefined],
  ])
  expect(parts(user(png, jpeg, png))?.map(([, tokens]) => tokens)).toEqual([undefined, undefined, undefined])
})

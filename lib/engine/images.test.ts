import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toEngineInput } from '#lib/trajectory/images/engine-input.ts'
import { imageSpans, placeholderRuns } from '#lib/trajectory/images/placeholders.ts'
import { type RequestImages, readImages, requireImagePlaceholders } from './images.ts'
import { type EngineReply, replyReader } from './reply.ts'

const [START, PAD, END] = [91, 92, 93]
const QWEN = { fillers: new Set([PAD]), markers: new Set<number>() }
const urls = (count: number) => Array.from({ length: count }, (_, index) => `data:${index}`)
const request = (inputIds: readonly number[], count: number, more: Partial<RequestImages> = {}) => ({
  inputIds,
  vocabularySize: 100,
  images: { urls: urls(count), placeholders: QWEN, spans: imageSpans(placeholderRuns(inputIds, QWEN), count), ...more },
})
const pads = (count: number) => Array.from({ length: count }, () => PAD)
const refusal = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`
  }
  return 'no refusal'
}

describe('The input that is sent with images', () => {
  test('is the ids unchanged if every image has one placeholder', () => {
    const { inputIds, images } = request([1, START, PAD, END, 2], 1)
    expect(toEngineInput({ inputIds, images })).toEqual({ inputIds })
    expect(toEngineInput({ inputIds, images }).inputIds).toBe(inputIds)
  })

  test('has one placeholder for each run of them', () => {
    expect(toEngineInput(request([...pads(3), 1, START, ...pads(2), END], 2)).inputIds).toEqual([
      PAD,
      1,
      START,
      PAD,
      END,
    ])
  })

  test('counts positions after an image as the server does, as far as it is known', () => {
    const at = (logprobStartLen: number, known?: readonly number[]) =>
      toEngineInput({ ...request([1, PAD, 2, PAD, 3], 2, { known }), logprobStartLen }).logprobStartLen
    expect([at(0), at(1), at(2), at(4)]).toEqual([0, 1, 2, 4])
    expect([at(1, [10, 20]), at(2, [10, 20]), at(3, [10, 20]), at(4, [10, 20])]).toEqual([1, 11, 12, 32])
    expect(at(4, [10])).toBe(13)
    expect(
      toEngineInput({ ...request([1, ...pads(4), 2], 1, { known: [4] }), logprobStartLen: 5 }).logprobStartLen,
    ).toBe(5)
  })

  test('is refused before it is sent if images and placeholders are not the same number, or not in order', () => {
    const { inputIds, images } = request([1, PAD, 2, PAD], 1)
    expect(refusal(() => requireImagePlaceholders({ inputIds, images }))).toBe(
      'REQUEST_REFUSED: the prompt has 2 image placeholders, and 1 image would be sent',
    )
    const odd = { ...images, spans: [{ start: 3, end: 5 }] }
    expect(refusal(() => requireImagePlaceholders({ inputIds, images: odd }))).toBe(
      'REQUEST_REFUSED: the tokens 3 to 5 of an image are not among the 4 of the prompt, in order',
    )
    expect(refusal(() => requireImagePlaceholders(request([1, PAD, 2, PAD], 2)))).toBe('no refusal')
  })
})

describe('The ids that a server reports to have read', () => {
  const read = (
    inputIds: readonly number[],
    count: number,
    promptIds?: readonly number[],
    promptTokens = promptIds?.length,
  ) => readImages(request(inputIds, count), { promptIds, promptTokens }).tokens

  test('show how many tokens each image has, whatever the numbers', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ before: fc.array(fc.nat(80), { minLength: 1 }), length: fc.integer({ min: 1, max: 30 }) }),
          { maxLength: 5 },
        ),
        fc.array(fc.nat(80)),
        (images, rest) => {
          const sent = [...images.flatMap(({ before }) => [...before, PAD]), ...rest]
          const promptIds = [...images.flatMap(({ before, length }) => [...before, ...pads(length)]), ...rest]
          expect(read(sent, images.length, promptIds)).toEqual(images.map(({ length }) => length))
        },
      ),
    )
  })

  test('leave the lengths of adjacent images unknown', () => {
    expect(read([1, PAD, PAD, 2], 2, [1, ...pads(9), 2])).toBeUndefined()
  })

  test.each([
    [
      'another id',
      [1, PAD, 2],
      [1, ...pads(3), 7],
      'the server read other ids than were sent: 7 in place of 2 at position 2',
    ],
    ['an id less', [1, PAD, 2, 3], [1, ...pads(3), 2], 'nothing in place of 3 at position 3'],
    ['an id more', [1, PAD, 2], [1, 1, ...pads(3), 2], '1 in place of nothing at position 1'],
    [
      'fewer images',
      [1, PAD, 2, PAD],
      [1, ...pads(3), 2],
      'the server read 1 run of image placeholders, expected 2, for 2 images',
    ],
    [
      'more images',
      [1, PAD, 2],
      [PAD, 1, PAD, 2],
      'the server read 2 runs of image placeholders, expected 1, for 1 image',
    ],
    ['too few tokens for adjacent images', [PAD, PAD], [PAD], 'the server read 1 prompt tokens, 2 were sent'],
  ])('end the call if they have %s', (_, sent, promptIds, message) => {
    const count = imageSpans(placeholderRuns(sent, QWEN), sent.filter((id) => id === PAD).length).length
    expect(refusal(() => read(sent, count, promptIds))).toMatch(/^INCONSISTENT: /)
    expect(refusal(() => read(sent, count, promptIds))).toContain(message)
  })

  test('end the call if their number is not the reported one, or fewer than were sent', () => {
    expect(refusal(() => read([1, PAD], 1, [1, PAD, PAD], 4))).toBe(
      'INCONSISTENT: the server counted 4 prompt tokens and returned 3',
    )
    expect(refusal(() => read([1, PAD], 1, undefined, 1))).toBe(
      'INCONSISTENT: the server read 1 prompt tokens, 2 were sent',
    )
    expect(refusal(() => readImages(request([PAD, PAD, 1], 2), { promptIds: [PAD, 1] }))).toBe(
      'INCONSISTENT: the server read 1 token for 2 images',
    )
  })

  test('may be missing: then the number of tokens shows the length of one image, and of several nothing', () => {
    expect(read([1, PAD, 2], 1, undefined, 12)).toEqual([10])
    expect(read([1, PAD, 2], 1)).toBeUndefined()
    expect(read([1, PAD, 2, PAD], 2, undefined, 12)).toBeUndefined()
  })

  test('may have further tokens around an image that has a marker', () => {
    // Gemma 3 replaces <start_of_image> by line ends, the marker, the repeated token and an end.
    const [MARK, SOFT, STOP, LINES, LINE] = [80, 81, 82, 83, 84]
    const gemma = { fillers: new Set([SOFT]), markers: new Set([MARK]) }
    const soft = [LINES, MARK, SOFT, SOFT, SOFT, STOP, LINES]
    const tokens = (sent: readonly number[], promptIds: readonly number[]) =>
      readImages(
        { inputIds: sent, images: { urls: ['a'], placeholders: gemma, spans: placeholderRuns(sent, gemma) } },
        { promptIds },
      ).tokens
    expect(tokens([1, 2, MARK, 3, 4], [1, 2, ...soft, 3, 4])).toEqual([3])
    // The line end before the marker becomes one token with those of the processor.
    expect(tokens([1, LINE, MARK, 3, 4], [1, 85, ...soft.slice(1), 3, 4])).toEqual([3])
    expect(tokens([MARK], soft)).toEqual([3])
    expect(refusal(() => tokens([1, 2, 3, MARK, 4, 5], [1, 9, 3, ...soft, 4, 5]))).toContain(
      '9 in place of 2 at position 1',
    )
    expect(refusal(() => tokens([1, 2, MARK, 3, 4, 5], [1, 2, ...soft, 3, 9, 5]))).toContain('position')
  })
})

describe('The scores of a prompt with images', () => {
  const scores = (inputIds: readonly number[], promptIds: readonly number[], rows: number, k = 0) => {
    const { images } = request(inputIds, placeholderRuns(inputIds, QWEN).length)
    const first = promptIds.length - rows
    const ids = promptIds.slice(first).map((id) => (id === PAD ? 0 : id))
    const logprobs = ids.map((_, index) => (first + index === 0 ? null : -(first + index) / 10))
    const part: EngineReply = {
      columns: {
        input: { ids, logprobs },
        ...(k > 0 && {
          inputTop: { k, ids: ids.flatMap((id) => [id, 5]), logprobs: logprobs.flatMap((value) => [value, -9]) },
        }),
        output: { ids: [8], logprobs: [-0.5] },
      },
      outputIds: [8],
      promptIds,
      promptTokens: promptIds.length,
      completionTokens: 1,
      finish: { kind: 'stop' },
    }
    return replyReader({ inputIds, vocabularySize: 100, logprobStartLen: 0, images }).read(part)
  }

  test('belong to the sent ids, and those of images are unknown', () => {
    const { prompt, imageTokens, problems } = scores([1, PAD, 2, 3], [1, ...pads(4), 2, 3], 7)
    expect(prompt?.logprobs).toEqual([null, null, -0.5, -0.6])
    expect(prompt?.problems).toEqual([])
    expect([imageTokens, problems]).toEqual([[4], []])
  })

  test('may begin after an image, at it or within it', () => {
    const of = (rows: number) => scores([1, PAD, 2, 3], [1, ...pads(4), 2, 3], rows).prompt?.logprobs
    expect([of(1), of(2), of(3), of(5), of(6)]).toEqual([
      [-0.6],
      [-0.5, -0.6],
      [-0.5, -0.6],
      [-0.5, -0.6],
      [null, -0.5, -0.6],
    ])
  })

  test('have the alternatives of the sent ids', () => {
    expect(scores([1, PAD, 2], [1, ...pads(2), 2], 3, 2).prompt?.topLogprobs).toEqual({
      k: 2,
      ids: [-1, -1, 2, 5],
      logprobs: [null, null, -0.3, -9],
    })
  })

  test('are assigned to every position of an imported prompt, which has as many placeholders as the image has tokens', () => {
    expect(scores([1, ...pads(3), 2], [1, ...pads(3), 2], 5).prompt?.logprobs).toEqual([null, null, null, null, -0.4])
  })

  test('are unknown, with a note, if the server does not report the ids that it read', () => {
    const { images } = request([1, PAD, 2], 1)
    const chunk = replyReader({ inputIds: [1, PAD, 2], vocabularySize: 100, logprobStartLen: 0, images }).read({
      columns: { input: { ids: [1, 0, 0, 2], logprobs: [null, -1, -1, -2] }, output: { ids: [8], logprobs: [-1] } },
      outputIds: [8],
      promptTokens: 4,
      completionTokens: 1,
      finish: { kind: 'stop' },
    })
    expect(chunk.prompt).toEqual({
      logprobs: [],
      problems: [{ kind: 'missing', message: 'The server returned no prompt logprobs.', column: 'logprobs' }],
    })
    expect(chunk.problems).toEqual([expect.objectContaining({ kind: 'missing' })])
    expect(chunk.imageTokens).toEqual([2])
  })
})

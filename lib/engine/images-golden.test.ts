/** Prompts with images as the processors of transformers read them; golden/make_images.py writes them. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { toEngineInput } from '#lib/trajectory/images/engine-input.ts'
import { imageSpans, placeholderIds, placeholderRuns } from '#lib/trajectory/images/placeholders.ts'
import { readImages, requireImagePlaceholders } from './images.ts'

const goldenSchema = z.object({
  'made with': z.string().startsWith('transformers '),
  processors: z.record(
    z.string(),
    z.object({
      /** Ids of the added tokens. */
      added: z.record(z.string(), z.int()),
      prompts: z.array(
        z.object({
          /** Width and height of each image. */
          sizes: z.array(z.tuple([z.int(), z.int()])),
          /** Number of tokens of each image, as the processor reports to inference servers. */
          tokens: z.array(z.int()),
          /** Ids of the prompt as the chat template writes it. */
          sent: z.array(z.int()),
          /** Ids that the model reads, each with the number of its repetitions. */
          read: z.array(z.tuple([z.int(), z.int()])),
        }),
      ),
    }),
  ),
})
const golden = goldenSchema.parse(
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'golden', 'images.json'), 'utf8')),
)

test('The golden prompts with images come from several processors, with several sizes and numbers of images', () => {
  const all = Object.values(golden.processors)
  expect(all.length).toBeGreaterThanOrEqual(7)
  for (const { prompts } of all) expect(new Set(prompts.map(({ sizes }) => sizes.length))).toEqual(new Set([1, 2, 3]))
})

describe.each(Object.entries(golden.processors))('A prompt with images for %s', (_, { added, prompts }) => {
  const placeholders = placeholderIds(Object.entries(added).map(([content, id]) => ({ id, content })))
  const spansIn = (ids: readonly number[], images: number) => imageSpans(placeholderRuns(ids, placeholders), images)

  test.each(prompts)('of the sizes $sizes has $tokens tokens, as its processor says', ({ tokens, sent, read }) => {
    const urls = tokens.map((_, index) => `data:${index}`)
    const promptIds = read.flatMap(([id, count]) => Array.from({ length: count }, () => id))
    const request = { inputIds: sent, images: { urls, placeholders, spans: spansIn(sent, urls.length) } }
    expect(request.images.spans.every(({ start, end }) => end === start + 1)).toBe(true)
    requireImagePlaceholders(request)
    expect(readImages(request, { promptIds, promptTokens: promptIds.length }).tokens).toEqual(tokens)

    // The same prompt from a file, which has as many placeholders as the model read.
    const boxes = spansIn(promptIds, urls.length)
    expect(boxes.map(({ start, end }) => end - start)).toEqual(tokens)
    const imported = { inputIds: promptIds, images: { urls, placeholders, spans: boxes } }
    requireImagePlaceholders(imported)
    expect(toEngineInput(imported).inputIds.length).toBe(
      promptIds.length - tokens.reduce((sum, count) => sum + count - 1, 0),
    )
    expect(readImages(imported, { promptIds, promptTokens: promptIds.length }).tokens).toEqual(tokens)
  })
})

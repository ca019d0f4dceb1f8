/**
 * Compares the masks of generation blocks with return_assistant_tokens_mask of real tokenizers, which lib/templates/golden/make.py records.
 */
import { describe, expect, test } from 'vitest'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { type GoldenMask, maskGroups } from '#lib/templates/golden/test-golden.ts'
import { loadedTokenizer } from '#testing/tokenizers.ts'
import { conversationTokens } from './conversation.ts'
import { generationMask } from './generation.ts'

const groups = maskGroups()

describe.each(groups)('generation blocks with the tokenizer $name', ({ folder, cases }) => {
  const { tokenizer } = loadedTokenizer(folder)

  test.each(cases)(
    'have the mask of transformers: $name',
    ({ template, specialTokens, input, ids, runs }: GoldenMask) => {
      const conversation = conversationTokens(input, chatTemplate(template, specialTokens), tokenizer)
      if (!conversation.ok) throw new Error(JSON.stringify(conversation))
      const mask = generationMask(conversation.value)
      expect(mask.ids).toEqual(ids)
      expect(mask.trained).toEqual(runs.flatMap((length, index) => new Array<boolean>(length).fill(index % 2 === 1)))
    },
  )
})

test('the golden masks of real tokenizers are complete', () => {
  expect(groups.flatMap(({ cases }) => cases).length).toBeGreaterThanOrEqual(60)
})

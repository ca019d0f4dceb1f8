import { describe, expect, test } from 'vitest'
import { ENGINE_CAPABILITIES, tooManyAlternatives, whyImagesInMessagesOnly, whyUnsupported } from './unsupported.ts'

const CAPABILITIES = [
  'promptLogprobs',
  'streaming',
  'abort',
  'chatIds',
  'images',
  'adapters',
  'routedExperts',
  'parsers',
] as const

describe.each(Object.entries(ENGINE_CAPABILITIES))('A server with %s', (_, capabilities) => {
  test.each(CAPABILITIES)('supports %s, or names the reason and a remedy', (capability) => {
    const reason = whyUnsupported(capability, capabilities)
    if (capabilities[capability]) expect(reason).toBeUndefined()
    else
      expect(reason).toEqual({
        detail: expect.stringMatching(/^(SGLang|llama\.cpp|vLLM|This OpenAI-compatible server) .+\.$/),
        hint: expect.stringMatching(/^Choose .+\.$/),
      })
  })
})

test('A server with SGLang whose model reads no images says that it is the model', () => {
  expect(whyUnsupported('images', { ...ENGINE_CAPABILITIES.sglang, images: false })?.detail).toBe(
    'SGLang serves a model that reads no images.',
  )
})

test('A server with unknown capabilities is never refused', () => {
  expect(whyUnsupported('promptLogprobs', undefined)).toBeUndefined()
})

test('A server that takes images in messages only says so, and one that takes them beside ids or reads none does not', () => {
  const { vllm } = ENGINE_CAPABILITIES
  expect(whyImagesInMessagesOnly({ ...vllm, imagesInMessages: true })?.detail).toMatch(/^vLLM takes images in messages/)
  for (const capabilities of [vllm, { ...vllm, images: false, imagesInMessages: true }, undefined])
    expect(whyImagesInMessagesOnly(capabilities)).toBeUndefined()
})

test('More alternatives than a server returns are refused with its limit, and any number where it has none', () => {
  const vllm = { ...ENGINE_CAPABILITIES.vllm, mostAlternatives: 20 }
  expect(tooManyAlternatives(20, vllm)).toBeUndefined()
  expect(tooManyAlternatives(21, vllm)).toEqual({
    detail: 'vLLM returns at most 20 alternatives for each token, and 21 are requested.',
    hint: 'Choose 20 or fewer, or start vLLM with a larger --max-logprobs.',
  })
  const other = { ...ENGINE_CAPABILITIES.openai, mostAlternatives: 5 }
  expect(tooManyAlternatives(6, other)?.hint).toBe('Choose 5 or fewer.')
  expect(tooManyAlternatives(1000, ENGINE_CAPABILITIES.sglang)).toBeUndefined()
  expect(tooManyAlternatives(1000, undefined)).toBeUndefined()
})

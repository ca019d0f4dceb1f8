import { describe, expect, test } from 'vitest'
import { ENGINE_CAPABILITIES, whyTooManyAlternatives, whyUnsupported } from './capabilities.ts'

const CAPABILITIES = ['promptLogprobs', 'streaming', 'abort', 'cachedTokens', 'chatIds', 'parsers'] as const

describe.each(Object.entries(ENGINE_CAPABILITIES))('A server with %s', (_, capabilities) => {
  test.each(CAPABILITIES)('supports %s, or names the reason and a remedy', (capability) => {
    const reason = whyUnsupported(capability, capabilities)
    if (capabilities[capability]) expect(reason).toBeUndefined()
    else expect(reason).toMatch(/^(SGLang|llama\.cpp) .+\. Choose .+\.$/)
  })
})

test('A server with unknown capabilities is never refused', () => {
  expect(whyUnsupported('promptLogprobs', undefined)).toBeUndefined()
  expect(whyTooManyAlternatives(1000, undefined)).toBeUndefined()
})

test('More alternatives than an engine returns are refused with its limit', () => {
  const limited = { ...ENGINE_CAPABILITIES.sglang, mostAlternatives: 20 }
  expect(whyTooManyAlternatives(20, limited)).toBeUndefined()
  expect(whyTooManyAlternatives(21, limited)).toBe(
    'SGLang returns at most 20 alternatives for each token. Lower the number.',
  )
  expect(whyTooManyAlternatives(1000, ENGINE_CAPABILITIES.sglang)).toBeUndefined()
})

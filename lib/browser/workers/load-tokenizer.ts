import { tokenizerFilesSchema } from '#lib/api/tokenizer-files.ts'
import { type LoadedTokenizer, loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { TaskResource } from './task-host.ts'

/** Returns the tokenizer of received files. Throws TokenizerError. */
export function loadTokenizer(given: TaskResource): LoadedTokenizer {
  if (given.kind !== 'tokenizer') throw new Error(`a ${given.kind} is not a tokenizer`)
  return loadTokenizerFiles(given.name, tokenizerFilesSchema.parse(JSON.parse(new TextDecoder().decode(given.files))))
}

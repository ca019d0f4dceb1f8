import { tokenizerFilesSchema } from '#lib/api/tokenizer-files.ts'
import { type LoadedTokenizer, loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { TaskResource } from './task-host.ts'

/** Returns the tokenizer of received files. Throws TokenizerError. */
export function loadTokenizer(resource: TaskResource): LoadedTokenizer {
  if (resource.kind !== 'tokenizer') throw new Error(`a ${resource.kind} is not a tokenizer`)
  return loadTokenizerFiles(
    resource.name,
    tokenizerFilesSchema.parse(JSON.parse(new TextDecoder().decode(resource.files))),
  )
}

/** Every file format, in the order in which a file is tried. */
import type { Format } from './format.ts'
import { rollscope } from './rollscope.ts'
import { slime } from './slime.ts'
import { strandsSglang } from './strands-sglang.ts'
import { torchrl } from './torchrl.ts'

export const formats: readonly Format[] = [rollscope, strandsSglang, slime, torchrl]

export type WritableFormat = Format & Required<Pick<Format, 'write' | 'rows'>>

/** Those that can be exported. */
export const writableFormats: readonly WritableFormat[] = formats.filter(
  (format): format is WritableFormat => format.write !== undefined && format.rows !== undefined,
)

/** All file formats, in the order in which a file is tried. */
import type { Format } from './format.ts'
import { mistakableFormat } from './reading/unsupported.ts'
import { rollscope } from './rollscope.ts'
import { slime } from './slime.ts'
import { strandsSglang } from './strands-sglang.ts'
import { torchrl } from './torchrl.ts'

/** Rollscope's own format comes first. */
export const formats: readonly Format[] = [rollscope, strandsSglang, slime, torchrl]

/** Returns whether a JSON value is a record of this format, and not one of another tool with the same field names. */
export const isOfFormat = (value: unknown, { sniff }: Format): boolean =>
  mistakableFormat(value) === undefined && sniff(value)

/** Returns the format of a JSON value, or undefined. */
export const formatOf = (value: unknown): Format | undefined =>
  mistakableFormat(value) === undefined ? formats.find(({ sniff }) => sniff(value)) : undefined

/** A format that can be exported. */
export type WritableFormat = Format & Required<Pick<Format, 'write' | 'rows'>>

/** Formats for export. */
export const writableFormats: readonly WritableFormat[] = formats.filter(
  (format): format is WritableFormat => format.write !== undefined && format.rows !== undefined,
)

/** All file formats, in the order in which a file is tried. */
import type { Format } from './format.ts'
import { mistakableFormat } from './reading/unsupported.ts'
import { rollscope } from './rollscope.ts'
import { slime } from './slime.ts'
import { strandsSglang } from './strands-sglang.ts'
import { torchrl } from './torchrl.ts'
import { atif } from './traces/atif.ts'
import { tinkerCapture } from './traces/tinker.ts'
import { verifiersTrace } from './traces/verifiers-trace.ts'
import { atifWriter } from './writing/atif.ts'
import { csvWriter } from './writing/csv.ts'
import { openaiMessagesWriter } from './writing/openai-messages.ts'
import { parquetWriter } from './writing/parquet.ts'
import { skyrlWriter } from './writing/skyrl.ts'
import { verifiersWriter } from './writing/verifiers.ts'
import { verlWriter } from './writing/verl.ts'
import type { Writer } from './writing/writer.ts'

/** Rollscope's own format comes first. */
export const formats: readonly Format[] = [
  rollscope,
  verifiersTrace,
  atif,
  tinkerCapture,
  strandsSglang,
  slime,
  torchrl,
]

/** Returns whether a JSON value is a record of this format, and not one of another tool with the same field names. */
export const isOfFormat = (value: unknown, { sniff }: Format): boolean =>
  mistakableFormat(value) === undefined && sniff(value)

/** Returns the format of a JSON value, or undefined. */
export const formatOf = (value: unknown): Format | undefined =>
  mistakableFormat(value) === undefined ? formats.find(({ sniff }) => sniff(value)) : undefined

/** Formats for export, in the order of the dialog. */
export const writableFormats: readonly Writer[] = [
  ...formats.filter((format): format is Format & Writer => format.write !== undefined),
  verifiersWriter,
  atifWriter,
  verlWriter,
  skyrlWriter,
  parquetWriter,
  openaiMessagesWriter,
  csvWriter,
]

/** A format with arrays over tokens. */
export type TrainerFormat = Writer & Required<Pick<Writer, 'rows'>>

/** Formats for export that have arrays over tokens. */
export const trainerFormats: readonly TrainerFormat[] = writableFormats.filter(
  (format): format is TrainerFormat => format.rows !== undefined,
)

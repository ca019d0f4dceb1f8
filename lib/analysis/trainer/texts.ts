/** Returns a trainer's file, and single arrays of it as texts, which can be saved or copied. */

import { writableFormats } from '#lib/formats/registry.ts'
import { valueAtPath } from '#lib/formats/writing/training-row.ts'
import { encodedFile } from '#lib/formats/writing/writer.ts'
import { fileName } from '#lib/trajectory/format/file.ts'
import { type ForcedChoice, withForced } from '#lib/trajectory/tokens/forced-tokens.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { InspectTask } from '../trajectory-task.ts'
import { recordIn } from './record.ts'

/** A file of one trajectory. */
interface TrainerFile {
  readonly name: string
  readonly content: string | Uint8Array
  readonly mediaType: string
}

interface FileRequest {
  readonly format: string
  /** Whether tokens that a branch inserted are trained. Omitted: as recorded, they are not. */
  readonly forced?: ForcedChoice
}

/** Task that returns the file, as Export saves it. */
export const trainerFile: InspectTask<FileRequest, undefined, TrainerFile> = function* (
  { format: name, forced = 'context' },
  view,
) {
  const trajectory = withForced(unpack(view), forced)
  const format = writableFormats.find((one) => one.name === name) ?? elementAt(writableFormats, 0)
  yield
  return {
    name: fileName(trajectory, format.name, format.encoding?.extension),
    ...encodedFile(format, format.write(trajectory).value),
  }
}

interface ArrayRequest {
  readonly format: string
  readonly row: number
  /** Name of the field, as in `SheetColumn`. */
  readonly field: string
  readonly language: 'json' | 'python'
}

/** Task that returns one array of the file as text, or the list of its arrays if the field has several. */
export const trainerArray: InspectTask<ArrayRequest, undefined, string> = function* (
  { format: name, row, field, language },
  view,
) {
  const { written, rows } = recordIn(name, view)
  yield
  const parts = rows[row]?.fields.find((one) => one.name === field)?.parts ?? []
  const arrays = parts.flatMap((part) => (part.kind === 'array' ? [valueAtPath(written.value, part.path)] : []))
  const json = JSON.stringify(field.includes('[]') || arrays.length > 1 ? arrays : (arrays[0] ?? null))
  // The arrays contain only numbers and null, so the replacement cannot change a string.
  return language === 'json' ? json : json.replaceAll('null', 'None')
}

/** Returns a trainer's file, and single arrays of it, as texts that can be saved or copied. */

import { valueAtPath } from '#lib/formats/training-row.ts'
import { readableJson } from '#lib/json/readable-json.ts'
import { fileName } from '#lib/trajectory/format/file.ts'
import type { InspectTask } from '../trajectory-task.ts'
import { recordIn } from './record.ts'

/** Task that returns the name and the text of the file, as Export saves it. */
export const trainerFile: InspectTask<
  { readonly format: string },
  undefined,
  { readonly name: string; readonly text: string }
> = function* ({ format: name }, view) {
  const { trajectory, format, written } = recordIn(name, view)
  yield
  return { name: fileName(trajectory, format.name), text: readableJson(written.value) }
}

interface ArrayRequest {
  readonly format: string
  readonly row: number
  /** Name of the field, as in `SheetColumn`. */
  readonly field: string
  readonly language: 'json' | 'python'
}

/** Task that returns one array of the file as text, or the list of its arrays if the field has one for each segment. */
export const trainerArray: InspectTask<ArrayRequest, undefined, string> = function* (
  { format: name, row, field, language },
  view,
) {
  const { written, rows } = recordIn(name, view)
  yield
  const parts = rows[row]?.fields.find((one) => one.name === field)?.parts ?? []
  const arrays = parts.flatMap((part) => (part.kind === 'array' ? [valueAtPath(written.value, part.path)] : []))
  const json = JSON.stringify(field.includes('[]') ? arrays : (arrays[0] ?? null))
  // The arrays contain only numbers and null, so the replacement cannot change a string.
  return language === 'json' ? json : json.replaceAll('null', 'None')
}

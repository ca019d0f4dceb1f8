/** The file, and single arrays of it, as texts to be taken away. */

import { valueAt } from '#lib/formats/training-row.ts'
import { readableJson } from '#lib/json/readable-json.ts'
import { fileName } from '#lib/trajectory/format/file.ts'
import type { InspectTask } from '../trajectory-task.ts'
import { recordIn } from './record.ts'

/** The file as Export saves it. */
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
  /** A field's name. */
  readonly field: string
  readonly language: 'json' | 'python'
}

/** One array as it stands in the file; a list of them where the field has one in each segment. */
export const trainerArray: InspectTask<ArrayRequest, undefined, string> = function* (
  { format: name, row, field, language },
  view,
) {
  const { written, rows } = recordIn(name, view)
  yield
  const parts = rows[row]?.fields.find((one) => one.name === field)?.parts ?? []
  const arrays = parts.flatMap((part) => (part.kind === 'array' ? [valueAt(written.value, part.path)] : []))
  const json = JSON.stringify(field.includes('[]') ? arrays : (arrays[0] ?? null))
  // Numbers and null alone: no text stands in it.
  return language === 'json' ? json : json.replaceAll('null', 'None')
}

/**
 * Checks whether a document renders, with the error that Python would give and its position. If it renders, checks whether the template and
 * the tokenizer belong together. The check is fast enough to run while typing.
 */

import type { LabInput, LabTask } from '#lib/tasks/task.ts'
import { LIVE_BUDGET } from '#lib/templates/live-budget.ts'
import { type InputError, orTemplateFailure, readInput } from './input.ts'
import { plainMarkers, renderedMarkers, templateMarkers } from './markers.ts'

/** The result of a check. */
export type CheckResult =
  | {
      readonly ok: true
      /** Markers of the template. */
      readonly markers: readonly string[]
      /** Markers that are not tokens of the tokenizer. */
      readonly plainMarkers: readonly string[]
    }
  | { readonly ok: false; readonly error: InputError }

/** Checks a document. Without a tokenizer, only the input is read. */
export const check: LabTask<LabInput, never, CheckResult> = function* (input, [tokenizer]) {
  const compiled = orTemplateFailure(() => tokenizer?.compile(input.template))
  if (!compiled.ok) return compiled
  const read = readInput(input)
  if (!read.ok) return read
  const rendered = orTemplateFailure(() => compiled.value?.trace(read.value, LIVE_BUDGET))
  if (!rendered.ok) return rendered
  const markers = [
    ...new Set([...templateMarkers(input.template), ...(rendered.value ? renderedMarkers(rendered.value) : [])]),
  ]
  return { ok: true, markers, plainMarkers: tokenizer ? plainMarkers(markers, tokenizer.tokenizer) : [] }
}

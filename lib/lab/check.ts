/** Whether a document renders: the error that Python would give, and where. Fast enough to be asked while typing. */
import { type InputError, orTemplateFailure, readInput } from './input.ts'
import { LIVE_BUDGET } from './live-budget.ts'
import type { LabInput, LabTask } from './task.ts'

export type Checked = { readonly ok: true } | { readonly ok: false; readonly error: InputError }

export const check: LabTask<LabInput, never, Checked> = function* (input, [tokenizer]) {
  const compiled = orTemplateFailure(() => tokenizer?.compile(input.template))
  if (!compiled.ok) return compiled
  const read = readInput(input)
  if (!read.ok) return read
  const rendered = orTemplateFailure(() => compiled.value?.trace(read.value, LIVE_BUDGET))
  return rendered.ok ? { ok: true } : rendered
}

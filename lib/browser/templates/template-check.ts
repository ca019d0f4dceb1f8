/** Compares the lab's render with that of another renderer. */
import { type TemplateCheck, templateCheckSchema } from '#lib/api/template-check.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import { fetchJson } from '../api.ts'

interface Question extends LabInput {
  readonly renderer: TemplateCheck['renderer']
  readonly tokenizer: string
  /** Name of a saved server; '' is the default server. */
  readonly server: string
}

/** Returns the comparison. Throws ApiError, or the signal's reason. */
export async function requestTemplateCheck(
  { server, ...question }: Question,
  signal: AbortSignal,
): Promise<TemplateCheck> {
  const json = { ...question, ...(question.renderer === 'server' && server !== '' && { server }) }
  return fetchJson('/api/templates/check', templateCheckSchema, { method: 'POST', json, signal })
}

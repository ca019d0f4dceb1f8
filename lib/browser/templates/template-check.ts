/** Another renderer's word on the lab's document. */
import { type TemplateCheck, templateCheckSchema } from '#lib/api/template-check.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import { fetchJson } from '../api.ts'

interface Question extends LabInput {
  readonly judge: TemplateCheck['judge']
  readonly tokenizer: string
  /** Name of a saved server; '' = the default one. */
  readonly server: string
}

/** Throws ApiError, or the signal's reason. */
export async function askJudge({ server, ...question }: Question, signal: AbortSignal): Promise<TemplateCheck> {
  const json = { ...question, ...(question.judge === 'server' && server !== '' && { server }) }
  return fetchJson('/api/templates/check', templateCheckSchema, { method: 'POST', json, signal })
}

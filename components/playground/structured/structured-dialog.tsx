'use client'
/** Requests structured output from the server that the setup names. */

import { structuredAnswerSchema } from '#lib/api/structured.ts'
import { ApiError, fetchJson } from '#lib/browser/api.ts'
import { withGrammar } from '#lib/sampling/fields.ts'
import { parseSamplingTexts } from '#lib/sampling/sampling-form.ts'
import type { Setup } from '#lib/share/settings/setup.ts'
import { StructuredForm as Dialog, type StructuredState } from './structured-form.tsx'

interface Props {
  /** Key of the trajectory whose tokens precede the question. */
  readonly trajectoryKey: string
  /** Setup whose server and sampling parameters are used. */
  readonly setup: Setup
  /** Undefined until something is typed. */
  readonly draft: StructuredDraft | undefined
  readonly onEdit: (draft: StructuredDraft) => void
  readonly onRecord: (prompt: string, schema: string) => void
  readonly onClose: () => void
}

/** Text of the dialog's fields, which the parent keeps while the dialog is closed. */
export interface StructuredDraft {
  readonly prompt: string
  /** JSON Schema as typed. */
  readonly schema: string
}

const FIRST: StructuredDraft = {
  prompt: 'Give the answer as JSON.',
  schema: `{
  "type": "object",
  "properties": { "answer": { "type": "string" } },
  "required": ["answer"],
  "additionalProperties": false
}`,
}

/** Shows the dialog and sends its requests. */
export function StructuredDialog({ trajectoryKey, setup, draft = FIRST, onEdit, onRecord, onClose }: Props) {
  return (
    <Dialog
      {...draft}
      onEdit={onEdit}
      onAsk={(prompt, schema) => requestAnswer(trajectoryKey, setup, { prompt, schema })}
      onRecord={onRecord}
      onClose={onClose}
    />
  )
}

async function requestAnswer(key: string, setup: Setup, question: object): Promise<StructuredState> {
  const { sampling, errors } = parseSamplingTexts(withGrammar(setup.sampling, {}))
  const [wrong] = Object.entries(errors)
  if (wrong) return { kind: 'refused', message: `${wrong.join(' ')}.`, hint: 'Correct it in the setup.' }
  const json = { ...question, sampling, ...(setup.server !== '' && { server: setup.server }) }
  const path = `/api/trajectories/${encodeURIComponent(key)}/structured`
  try {
    return { kind: 'answered', reply: await fetchJson(path, structuredAnswerSchema, { method: 'POST', json }) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { kind: 'refused', message: error.message, hint: error.hint }
  }
}

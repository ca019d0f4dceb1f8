'use client'
import { useState } from 'react'
import type { LabInput } from '#lib/tasks/task.ts'
import type { CheckResult } from '#lib/templates/document/check.ts'
import type { InputError } from '#lib/templates/document/input.ts'
import type { RunTask } from '#lib/templates/tasks/tasks.ts'
import { useTask } from './use-task.ts'

/** Pause in typing before the document is checked, in milliseconds. */
const PAUSE_MS = 60

type Fit = Extract<CheckResult, { ok: true }>

/** Assumed match of template and tokenizer before the first check. */
const UNKNOWN_FIT: Fit = { ok: true, markers: [], plainMarkers: [] }

/** Checks the document while it is edited. During a new check, and after one that failed, the last answer stays. */
export function useLabCheck(run: RunTask, input: LabInput, tokenizer: string) {
  const [error, setError] = useState<InputError>()
  const [fit, setFit] = useState(UNKNOWN_FIT)
  const check = useTask(run, 'check', input, {
    tokenizers: [tokenizer],
    pauseMs: PAUSE_MS,
    onResult: (result) => {
      setError(result.ok ? undefined : result.error)
      if (result.ok) setFit(result)
    },
  })
  return {
    /** Why the document does not render. */
    error,
    /** Markers of the last document that rendered. */
    fit,
    /** Why the check itself failed. */
    failure: check.kind === 'failed' ? check.error : undefined,
  }
}

/** The result of the check while the document is edited. */
export type LabCheck = ReturnType<typeof useLabCheck>

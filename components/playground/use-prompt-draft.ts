'use client'
import { useEffect, useState } from 'react'
import { dropKept, keepInBrowser, readKept } from '#lib/browser/browser-storage.ts'
import { EMPTY_PROMPT, type PromptDraft, promptDraftSchema } from '#lib/share/settings/prompt-draft.ts'
import { FIRST_QUESTION } from '#lib/share/settings/setup.ts'

const PROMPT_KEY = 'rollscope.prompt'

/** What becomes otherwise, perhaps by what stands there by then. */
export type DraftChange = Partial<PromptDraft> | ((now: PromptDraft) => Partial<PromptDraft>)

/** The prompt as it stood last in this browser; a question to begin with where a new run has none. */
export function usePromptDraft(isNew: boolean): readonly [PromptDraft, (change: DraftChange) => void] {
  const [draft, setDraft] = useState<PromptDraft>({ ...EMPTY_PROMPT, question: isNew ? FIRST_QUESTION : '' })
  // After the first render: the server does not know what this browser remembers.
  useEffect(() => {
    const kept = remembered()
    if (kept) setDraft((now) => ({ ...kept, question: kept.question || now.question }))
  }, [])
  return [
    draft,
    (change) =>
      setDraft((now) => {
        const changed = { ...now, ...(typeof change === 'function' ? change(now) : change) }
        keep(changed)
        return changed
      }),
  ]
}

function remembered(): PromptDraft | undefined {
  try {
    return promptDraftSchema.parse(JSON.parse(readKept(PROMPT_KEY) ?? '{}'))
  } catch {
    return undefined
  }
}

/** Ids of a very long prompt are more than a browser keeps: then the prompt stays in the page alone. */
function keep(draft: PromptDraft): void {
  if (!keepInBrowser(PROMPT_KEY, JSON.stringify(draft))) dropKept(PROMPT_KEY)
}

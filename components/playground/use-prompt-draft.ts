'use client'
import { useEffect, useState } from 'react'
import { keepInBrowser, readStoredText, removeStoredText } from '#lib/browser/browser-storage.ts'
import { EMPTY_PROMPT, type PromptDraft, promptDraftSchema } from '#lib/share/settings/prompt-draft.ts'
import { FIRST_QUESTION } from '#lib/share/settings/setup.ts'

const PROMPT_KEY = 'rollscope.prompt'

/** Change of the draft; a function computes it from the current draft. */
export type DraftChange = Partial<PromptDraft> | ((now: PromptDraft) => Partial<PromptDraft>)

/** Returns the last prompt typed in this browser and its setter. A new run without one begins with an example question. */
export function usePromptDraft(isNew: boolean): readonly [PromptDraft, (change: DraftChange) => void] {
  const [draft, setDraft] = useState<PromptDraft>({ ...EMPTY_PROMPT, question: isNew ? FIRST_QUESTION : '' })
  // Runs after the first render, because the server cannot know what the browser stored.
  useEffect(() => {
    const kept = readStoredDraft()
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

function readStoredDraft(): PromptDraft | undefined {
  try {
    return promptDraftSchema.parse(JSON.parse(readStoredText(PROMPT_KEY) ?? '{}'))
  } catch {
    return undefined
  }
}

/** Stores the draft. If it exceeds the browser's storage, as a prompt of many ids may, the stored draft is removed. */
function keep(draft: PromptDraft): void {
  if (!keepInBrowser(PROMPT_KEY, JSON.stringify(draft))) removeStoredText(PROMPT_KEY)
}

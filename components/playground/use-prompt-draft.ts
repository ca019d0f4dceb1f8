'use client'
import { useEffect, useState } from 'react'
import { keepInBrowser, readStoredText, removeStoredText } from '#lib/browser/browser-storage.ts'
import {
  EMPTY_PROMPT,
  type PromptDraft,
  type PromptWithImages,
  promptDraftSchema,
} from '#lib/share/settings/prompt-draft.ts'
import { FIRST_QUESTION } from '#lib/share/settings/setup.ts'

const PROMPT_KEY = 'rollscope.prompt'

/** Change of the draft; a function computes it from the current draft. */
export type DraftChange = Partial<PromptWithImages> | ((now: PromptWithImages) => Partial<PromptWithImages>)

/** Returns the last prompt typed in this browser and its setter. A new run without one begins with an example question. */
export function usePromptDraft(isNew: boolean): readonly [PromptWithImages, (change: DraftChange) => void] {
  const [draft, setDraft] = useState<PromptWithImages>({
    ...EMPTY_PROMPT,
    question: isNew ? FIRST_QUESTION : '',
    images: [],
  })
  // Runs after the first render, because the server cannot know what the browser stored.
  useEffect(() => {
    const storedDraft = readStoredDraft()
    if (storedDraft)
      setDraft((now) => ({ ...storedDraft, question: storedDraft.question || now.question, images: now.images ?? [] }))
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

/** Stores the draft without its images, which are too large. If it exceeds the browser's storage, as a prompt of many ids may, the stored draft is removed. */
function keep({ images: _, ...draft }: PromptWithImages): void {
  if (!keepInBrowser(PROMPT_KEY, JSON.stringify(draft))) removeStoredText(PROMPT_KEY)
}

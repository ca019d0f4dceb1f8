/** Adds the prompt of the composer to a request for a run. */
import type { RunOpening } from '#lib/api/run-request.ts'
import { parseConversation } from './conversation-text.ts'
import { readIds } from './ids-text.ts'
import type { PromptDraft, PromptWithImages } from './prompt-draft.ts'

/** The opening of a run with its prompt, or why the prompt cannot be sent. */
export type PromptOpening =
  /** The complete opening, including the prompt. */
  { readonly ok: true; readonly opening: RunOpening } | { readonly ok: false; readonly why: string }

/** Adds the prompt to `opening`, which comes from the setup. Only a question keeps the system prompt of the setup. */
export function withPrompt(draft: PromptWithImages, opening: RunOpening): PromptOpening {
  // A conversation has its own system prompt. Text and ids are not rendered.
  const { system: _, ...rest } = opening
  switch (draft.mode) {
    case 'question':
      return { ok: true, opening: { ...opening, prompt: draft.question, ...imagesOf(draft) } }
    case 'conversation': {
      const read = parseConversation(draft.conversation)
      return read.ok
        ? { ok: true, opening: { ...rest, messages: read.messages } }
        : { ok: false, why: `The conversation cannot be sent: ${read.why}.` }
    }
    case 'text':
      return { ok: true, opening: { ...rest, ...toolsOf(draft), text: draft.text } }
    case 'ids': {
      const read = readIds(draft.ids, draft.record)
      if (!read.ok) return { ok: false, why: `The ids cannot be sent: ${read.why} (character ${read.at + 1}).` }
      const { ids, text } = read
      return { ok: true, opening: { ...rest, ...toolsOf(draft), ids, ...(text !== undefined && { text }) } }
    }
  }
}

/** Returns the images as a field of a request; no field if there are none. */
const imagesOf = ({ images = [] }: Pick<PromptWithImages, 'images'>): Pick<RunOpening, 'images'> =>
  images.length > 0 ? { images } : {}

/** Removes the tools unless the draft runs them. A run without tools is a single response. */
const toolsOf = ({ runsTools }: PromptDraft): RunOpening => (runsTools ? {} : { tools: [] })

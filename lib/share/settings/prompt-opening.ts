/** The prompt of the composer in a request for a run. */
import type { RunOpening } from '#lib/api/run-request.ts'
import { messagesIn } from './conversation-text.ts'
import { idsIn } from './ids-text.ts'
import type { PromptDraft } from './prompt-draft.ts'

export type PromptOpening =
  /** What the setup gives to begin with, and the prompt. */
  { readonly ok: true; readonly opening: RunOpening } | { readonly ok: false; readonly why: string }

/** `opening`: what the setup gives to begin a run with. */
export function withPrompt(draft: PromptDraft, opening: RunOpening): PromptOpening {
  // A conversation brings its own system prompt, and of text and ids nothing is rendered.
  const { system: _, ...rest } = opening
  switch (draft.mode) {
    case 'question':
      return { ok: true, opening: { ...opening, prompt: draft.question } }
    case 'conversation': {
      const read = messagesIn(draft.conversation)
      return read.ok
        ? { ok: true, opening: { ...rest, messages: read.messages } }
        : { ok: false, why: `The conversation cannot be sent: ${read.why}.` }
    }
    case 'text':
      return { ok: true, opening: { ...rest, ...toolsOf(draft), text: draft.text } }
    case 'ids': {
      const read = idsIn(draft.ids, draft.record)
      if (!read.ok) return { ok: false, why: `The ids cannot be sent: ${read.why} (character ${read.at + 1}).` }
      const { ids, text } = read
      return { ok: true, opening: { ...rest, ...toolsOf(draft), ids, ...(text !== undefined && { text }) } }
    }
  }
}

/** Without tools the run is one response. */
const toolsOf = ({ runsTools }: PromptDraft): RunOpening => (runsTools ? {} : { tools: [] })

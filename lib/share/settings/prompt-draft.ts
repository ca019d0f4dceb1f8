/** What the next run begins with, as it stands in the composer: a question, a conversation, a text or token ids. */
import * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'

export const PROMPT_MODES = ['question', 'conversation', 'text', 'ids'] as const
export type PromptMode = (typeof PROMPT_MODES)[number]

/** As it is remembered in the browser and shared with a setup: what the modes that are not shown hold is kept too. */
export const promptDraftSchema = z.object({
  mode: z.enum(PROMPT_MODES).default('question'),
  question: z.string().default(''),
  /** JSON list of messages. */
  conversation: z.string().default(''),
  text: z.string().default(''),
  /** As pasted: idsIn reads it. */
  ids: z.string().default(''),
  /** Which of several records in `ids`, from 0. */
  record: z.int().min(0).default(0),
  /** Whether the calls in the response to a text or to ids are run with the tools of the setup. */
  runsTools: z.boolean().default(false),
})
export type PromptDraft = Plain<z.infer<typeof promptDraftSchema>>

export const EMPTY_PROMPT: PromptDraft = promptDraftSchema.parse({})

/** A draft with what another shows: what the other's further modes hold was not meant. */
export const withShown = (draft: PromptDraft, shown: PromptDraft): PromptDraft => ({
  ...draft,
  mode: shown.mode,
  [shown.mode]: shown[shown.mode],
  record: shown.record,
  runsTools: shown.runsTools,
})

/** What is typed in the mode that is shown. */
export const typedIn = (draft: PromptDraft): string => draft[draft.mode]

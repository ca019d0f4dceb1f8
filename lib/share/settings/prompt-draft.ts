/** Defines the contents of the composer, with which the next run begins: a question, a conversation, a text or token ids. */
import * as z from 'zod/mini'
import type { Plain } from '#lib/util/plain.ts'

/** Modes of the composer. */
export const PROMPT_MODES = ['question', 'conversation', 'text', 'ids'] as const
/** Mode of the composer. */
export type PromptMode = (typeof PROMPT_MODES)[number]

/** Schema of a draft, as the browser remembers it and a setup shares it. The contents of hidden modes are kept too. */
export const promptDraftSchema = z.object({
  mode: z._default(z.enum(PROMPT_MODES), 'question'),
  question: z._default(z.string(), ''),
  /** A JSON list of messages. */
  conversation: z._default(z.string(), ''),
  text: z._default(z.string(), ''),
  /** Ids as pasted, which `idsIn` reads. */
  ids: z._default(z.string(), ''),
  /** Number of the record in `ids`, from 0. */
  record: z._default(z.int().check(z.minimum(0)), 0),
  /** True: calls in the response to a text or to ids are executed with the tools of the setup. */
  runsTools: z._default(z.boolean(), false),
})
/** Contents of the composer. */
export type PromptDraft = Plain<z.infer<typeof promptDraftSchema>>

/** Contents of the composer with the images of its question, which are neither remembered nor shared. */
export type PromptWithImages = PromptDraft & {
  /** Data URLs, each once. Omitted: none. */
  readonly images?: readonly string[]
}

/** Contents of an empty composer. */
export const EMPTY_PROMPT: PromptDraft = promptDraftSchema.parse({})

/** Returns `draft` with the shown mode of `shown`. Hidden modes of `shown` are not taken. */
export const withVisibleMode = (draft: PromptDraft, visibleDraft: PromptDraft): PromptDraft => ({
  ...draft,
  mode: visibleDraft.mode,
  [visibleDraft.mode]: visibleDraft[visibleDraft.mode],
  record: visibleDraft.record,
  runsTools: visibleDraft.runsTools,
})

/** Returns the text of the mode that is shown. */
export const currentText = (draft: PromptDraft): string => draft[draft.mode]

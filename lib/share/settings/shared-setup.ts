/**
 * A setup to be shared: a settings file without servers, so that neither addresses nor keys are in it, and the server goes
 * by its name.
 */
import { EMPTY_PROMPT, type PromptDraft, withShown } from './prompt-draft.ts'
import { settingsText } from './settings-file.ts'
import type { Setup } from './setup.ts'

export const sharedText = (setup: Setup, prompt: PromptDraft): string =>
  settingsText({ servers: [], setup, prompt: withShown(EMPTY_PROMPT, prompt) })

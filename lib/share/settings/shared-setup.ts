/**
 * Writes a setup that can be shared: a settings file without servers. It contains neither addresses nor keys, and the server is given by
 * its name.
 */
import { EMPTY_PROMPT, type PromptDraft, withVisibleMode } from './prompt-draft.ts'
import { settingsText } from './settings-file.ts'
import type { Setup } from './setup.ts'

/** Returns the text of a shared setup with the shown mode of the prompt. */
export const sharedText = (setup: Setup, prompt: PromptDraft): string =>
  settingsText({ servers: [], setup, prompt: withVisibleMode(EMPTY_PROMPT, prompt) })

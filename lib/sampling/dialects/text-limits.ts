/** How many characters the boxes take that are pasted into; what is read from them is read with each key. */

/** A prompt as text, ids or messages: a million ids, and half of what a request may hold. */
export const LONGEST_PROMPT = 8_000_000
/** Sampling parameters of another program. */
export const LONGEST_DIALECT = 200_000
/** Tools as JSON. */
export const LONGEST_TOOLS = 2_000_000
/** A setup, as a link or as JSON: a prompt and what goes with it. */
export const LONGEST_SETUP = LONGEST_PROMPT + 2_000_000

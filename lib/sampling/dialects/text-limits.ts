/** This file defines the maximum lengths of pasted text, in characters. The text is parsed on every keystroke. */

/** Longest prompt as text, ids or messages: a million ids, and half of the request limit. */
export const LONGEST_PROMPT = 8_000_000
/** Longest text with sampling parameters of another program. */
export const LONGEST_DIALECT = 200_000
/** Longest JSON text with tools. */
export const LONGEST_TOOLS = 2_000_000
/** Longest setup as a link or JSON: a prompt and its settings. */
export const LONGEST_SETUP = LONGEST_PROMPT + 2_000_000

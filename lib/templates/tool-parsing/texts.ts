/** Excerpts in sentences. */

const LONGEST = 60

/** Returns the text, cut to 60 UTF-16 units. */
export const clipForReport = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

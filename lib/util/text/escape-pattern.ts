/** Returns a text as the source of a regular expression that matches it. RegExp.escape is missing in supported browsers. */
export const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

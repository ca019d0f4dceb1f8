/** Returns the escape of a UTF-16 unit by its number, such as `\u003c`. It always has four digits. */
export const unicodeEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

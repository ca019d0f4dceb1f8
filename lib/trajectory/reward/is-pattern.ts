/** Returns whether a text is a JavaScript regular expression with the flag u. */
export function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}

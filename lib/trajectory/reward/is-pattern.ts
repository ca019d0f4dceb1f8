/** Whether a text is a regular expression of JavaScript, flag u. */
export function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}

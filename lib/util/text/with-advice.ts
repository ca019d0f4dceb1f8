/** Returns what happened and what to do as sentences. A message is a clause or a sentence, such as a server’s own words. */
export function withAdvice(message: string, advice?: string): string {
  const text = message.trimEnd()
  const sentence = text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]["”’)]?$/.test(text) ? '' : '.')
  return advice === undefined || advice === '' ? sentence : `${sentence} ${advice}`
}

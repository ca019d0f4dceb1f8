/** Returns the pattern of a tag, which may contain angle brackets, square brackets and bars. */
export const escaped = (tag: string): string => tag.replaceAll(/[[\]|]/g, '\\$&')

/** Returns a global pattern of any of these tags. */
export const anyOf = (tags: readonly string[]): RegExp => new RegExp(tags.map(escaped).join('|'), 'g')

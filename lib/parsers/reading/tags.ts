/** A global pattern of tags that are written in the characters of formats: angle and square brackets, bars. */
export const anyOf = (tags: readonly string[]): RegExp =>
  new RegExp(tags.map((tag) => tag.replaceAll(/[[\]|]/g, '\\$&')).join('|'), 'g')

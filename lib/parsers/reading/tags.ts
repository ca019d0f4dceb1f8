/** Returns a global pattern of tags, which may contain angle brackets, square brackets and bars. */
export const anyOf = (tags: readonly string[]): RegExp =>
  new RegExp(tags.map((tag) => tag.replaceAll(/[[\]|]/g, '\\$&')).join('|'), 'g')

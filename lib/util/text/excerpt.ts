/** Returns the text, or its first `longest` UTF-16 units with an ellipsis. */
export const excerpt = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest)}…` : text

/** Normalizes width, ligatures and case, for both sides of a search. */
export const foldCase = (text: string): string => text.normalize('NFKC').toLowerCase()

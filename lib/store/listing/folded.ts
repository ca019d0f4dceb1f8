/** One spelling for what a reader takes for the same: width, ligatures, case. Both sides of a search go through it. */
export const folded = (text: string): string => text.normalize('NFKC').toLowerCase()

/** Removes a byte order mark, which some programs write and JSON does not allow. */
export const withoutByteOrderMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text)

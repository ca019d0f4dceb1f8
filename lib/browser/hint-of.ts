/** Returns the advice of an error, which the errors of files, of workers and of the HTTP interface carry; undefined if it has none. */
export const hintOf = (error: Error & { readonly hint?: string | undefined }): string | undefined => error.hint

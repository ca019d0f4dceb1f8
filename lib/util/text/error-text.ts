/** Returns the message of an error. Libraries may also throw values that are none. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))

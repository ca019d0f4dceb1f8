/** Parses JSON so that JSON.stringify keeps the spelling of numbers, with JSON.rawJSON. */
export const parseWritten = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && context.source !== String(value)
      ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(context.source)
      : value,
  )

/** Returns the JSON text of a number that parseWritten kept as it is written; undefined for any other value. */
export const writtenNumber = (value: object): string | undefined =>
  Object.getPrototypeOf(value) === null && 'rawJSON' in value ? JSON.stringify(value) : undefined

/** Returns whether a JSON text has a number that JSON.stringify would write differently, such as 1.0 or one of 20 digits. */
export const losesDigits = (text: string): boolean =>
  MAY_LOSE.test(text) && JSON.stringify(parseWritten(text)) !== JSON.stringify(JSON.parse(text))

const MAY_LOSE = /\d[.eE]|\d{16}|-0/

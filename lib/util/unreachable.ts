/**
 * Ends an exhaustive switch: the call is a type error if a case is missing. Throws Error if the type was wrong.
 */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

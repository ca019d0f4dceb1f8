/**
 * The default branch of an exhaustive switch: a type error if a case is missing, and an exception if the type was
 * wrong.
 */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

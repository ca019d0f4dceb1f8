/** The default branch of an exhaustive switch: a type error where a case is missing, a crash where a promise was broken. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

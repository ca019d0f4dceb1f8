/** True after the start of the interpreter. From then on it gets nothing of Node. */
let isLocked = false

/** Marks the start of the interpreter as complete. */
export const lock = (): void => {
  isLocked = true
}

/** Throws like `refuse`, but only after the start of the interpreter. */
export function refuseWhenLocked(what: string): void {
  if (isLocked) throwAccessError(what)
}

/** Throws an Error with the code EACCES. */
export function throwAccessError(what: string): never {
  throw Object.assign(new Error(`${what} is not allowed here`), { code: 'EACCES' })
}

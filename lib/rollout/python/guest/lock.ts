/** Whether the interpreter is up: from then on it is given nothing of Node any more. */
let isLocked = false

export const lock = (): void => {
  isLocked = true
}

export function refuseWhenLocked(what: string): void {
  if (isLocked) refuse(what)
}

export function refuse(what: string): never {
  throw Object.assign(new Error(`${what} is not allowed here`), { code: 'EACCES' })
}

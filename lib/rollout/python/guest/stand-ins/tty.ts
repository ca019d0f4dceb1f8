/** The stand-in for node:tty. */
export const isatty = (): boolean => false

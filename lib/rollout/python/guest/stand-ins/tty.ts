/** What Pyodide gets as node:tty. */
export const isatty = (): boolean => false

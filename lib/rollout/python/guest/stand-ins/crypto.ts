/** What Pyodide gets as node:crypto: random bytes. */
export { randomFillSync } from 'node:crypto'

/** The stand-in for node:crypto: random bytes. */
export { randomFillSync } from 'node:crypto'

import { randomUUID } from 'node:crypto'

/** Returns a unique id of fixed length for a request to a server. */
export const newRequestId = (): string => randomUUID().replaceAll('-', '')

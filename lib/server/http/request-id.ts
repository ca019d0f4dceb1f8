import { randomUUID } from 'node:crypto'

/** Of a request to a server: of fixed length and unique. */
export const newRequestId = (): string => randomUUID().replaceAll('-', '')

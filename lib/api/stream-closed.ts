/** The last line of a stream of events that the server closes although more events follow. It has no number. */
import * as z from 'zod'
import { isObject } from '#lib/json/json-object.ts'

export const streamClosedSchema = z.object({
  type: z.literal('stream-closed'),
  code: z.literal('READER_TOO_SLOW'),
  message: z.string().describe('Why, and what to do.'),
  next: z.int().min(0).describe('Number of the first line that was not sent: follow the events again with ?from=.'),
})
export type StreamClosed = Readonly<z.infer<typeof streamClosedSchema>>

/** Of a line of such a stream: neither an event nor the line of a group has this type. */
export const isStreamClosed = (line: unknown): line is StreamClosed => isObject(line) && line.type === 'stream-closed'

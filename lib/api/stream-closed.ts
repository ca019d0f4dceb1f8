/** Defines the last line of an event stream that the server closes although more events follow. The line has no number. */
import * as z from 'zod/mini'
import { isObject } from '#lib/json/json-object.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** Schema of the line. */
export const streamClosedSchema = z.object({
  type: z.literal('stream-closed'),
  code: z.literal('READER_TOO_SLOW'),
  message: withDescription(z.string(), 'Why the stream was closed, and what to do.'),
  next: withDescription(
    z.int().check(z.minimum(0)),
    'Number of the first line that was not sent. Request the events again with ?from= and this number.',
  ),
})
/** Reason for the end of a stream, and the number of the next line. */
export type StreamClosed = Readonly<z.infer<typeof streamClosedSchema>>

/** Returns true for the closing line. Neither an event nor a line of a group has this type. */
export const isStreamClosed = (line: unknown): line is StreamClosed => isObject(line) && line.type === 'stream-closed'

/** Defines the stream of a group, which has the events of all its samples. */
import * as z from 'zod/mini'
import { isObject } from '#lib/json/json-object.ts'
import { readerOf, type SchemaReader, withoutEventColumns } from '#lib/trajectory/events/event-reader.ts'
import { rolloutEventSchema } from '#lib/trajectory/events/event-schema.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** Schema of one line of a group’s stream. */
export const groupLineSchema = z.object({
  sample: withDescription(z.int().check(z.minimum(0)), 'Index of the sample.'),
  event: rolloutEventSchema,
  scored: withDescription(
    z.exactOptional(z.object({ reward: z.nullable(z.number()), why: z.string() })),
    'Only with the event `ended` in a group with a reward rule: the reward and the reason. null: no reward.',
  ),
})
/** One line of a group’s stream. Lines are numbered from 0 over the whole group. */
export type GroupLine = Plain<z.infer<typeof groupLineSchema>>

/** Reads lines of a group’s stream faster than the schema does. */
export const groupLineReader: SchemaReader<GroupLine> = readerOf(groupLineSchema, (line) =>
  isObject(line) ? { ...line, event: withoutEventColumns(line.event) } : line,
)

/** Defines the answer to the import of a file. */
import * as z from 'zod/mini'
import { withDescription } from '#lib/util/with-description.ts'

/** Number of failed records that the answer describes; it counts all. */
export const MOST_FAILED_RECORDS = 100

const failedRecordSchema = z.object({
  line: withDescription(z.exactOptional(z.int()), 'Line of JSON lines, from 1.'),
  path: withDescription(z.string(), "Path of the wrong value, such as `[3].logprobs[17]`. '' for the whole record."),
  expected: z.string(),
  found: z.string(),
  message: withDescription(z.string(), 'The same in one sentence.'),
  hint: withDescription(z.string(), 'What to do.'),
})

/** The answer of POST /api/import. */
export const importedSchema = z.object({
  format: z.string(),
  trajectories: withDescription(z.tuple([z.string()], z.string()), 'Keys in the order of the file.'),
  existing: withDescription(
    z.int().check(z.minimum(0)),
    'Number of these trajectories that were in the library before.',
  ),
  first: withDescription(
    z.object({ id: z.string(), createdAt: z.string() }),
    'Id and time of the first trajectory, generated if its record has none.',
  ),
  failed: withDescription(
    z.object({
      count: z.int().check(z.minimum(0)),
      first: withDescription(
        z.array(failedRecordSchema),
        `The first ${MOST_FAILED_RECORDS} of them, in the order of the file.`,
      ),
    }),
    'Records that could not be read. All others are stored.',
  ),
  lacked: withDescription(z.array(z.string()), 'Information that the file did not contain, in words.'),
})
/** Format and stored trajectories of an imported file. */
export type ImportResult = Readonly<z.infer<typeof importedSchema>>
/** The records of a file that could not be read. */
export type FailedRecords = ImportResult['failed']
/** A record of a file that could not be read. */
export type FailedRecord = ImportResult['failed']['first'][number]

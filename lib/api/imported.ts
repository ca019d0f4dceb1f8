/** Defines the answer to the import of a file. */
import * as z from 'zod/mini'
import { withDescription } from '#lib/util/with-description.ts'

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
  lacked: withDescription(z.array(z.string()), 'Information that the file did not contain, in words.'),
})
/** Format and stored trajectories of an imported file. */
export type Imported = Readonly<z.infer<typeof importedSchema>>

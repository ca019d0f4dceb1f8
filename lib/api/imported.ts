/** Defines the answer to the import of a file. */
import * as z from 'zod'

/** The answer of POST /api/import. */
export const importedSchema = z.object({
  format: z.string(),
  trajectories: z.tuple([z.string()], z.string()).describe('Keys in the order of the file.'),
  existing: z.int().min(0).describe('How many of them were in the library before.'),
  first: z
    .object({ id: z.string(), createdAt: z.string() })
    .describe('Of the first trajectory; given here where its record has neither.'),
  lacked: z.array(z.string()).describe('What the file did not say, for a person.'),
})
/** Format and stored trajectories of an imported file. */
export type Imported = Readonly<z.infer<typeof importedSchema>>

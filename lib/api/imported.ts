/** Defines the answer to the import of a file. */
import * as z from 'zod'

/** The answer of POST /api/import. */
export const importedSchema = z.object({
  format: z.string(),
  trajectories: z.tuple([z.string()], z.string()).describe('Keys in the order of the file.'),
  existing: z.int().min(0).describe('Number of these trajectories that were in the library before.'),
  first: z
    .object({ id: z.string(), createdAt: z.string() })
    .describe('Id and time of the first trajectory, generated if its record has none.'),
  lacked: z.array(z.string()).describe('Information that the file did not contain, in words.'),
})
/** Format and stored trajectories of an imported file. */
export type Imported = Readonly<z.infer<typeof importedSchema>>

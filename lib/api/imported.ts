/** What becomes of a file that is imported. */
import * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'

export const importedSchema = z.object({
  format: z.string(),
  trajectories: z.array(z.string()).min(1).describe('Keys in the order of the file.'),
  existing: z.int().min(0).describe('How many of them were in the library before.'),
  first: z
    .object({ id: z.string(), createdAt: z.string() })
    .describe('Of the first trajectory; given here where its record has neither.'),
  lacked: z.array(z.string()).describe('What the file did not say, for a person.'),
})
export type Imported = Plain<z.infer<typeof importedSchema>>

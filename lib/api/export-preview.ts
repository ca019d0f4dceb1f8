/** Defines the preview of an export of several trajectories, which is shown before a format is chosen. */
import * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'

/** HTTP header of an exported file with the number of trajectories that it leaves out. The preview names them. */
export const EXCLUDED_HEADER = 'x-rollscope-excluded'

/** The answer of POST /api/export/preview. */
export const exportPreviewSchema = z.object({
  samples: z.int().min(0).describe('Number of trajectories in the file, one per line.'),
  excluded: z
    .array(z.object({ key: z.string(), title: z.string(), why: z.string().describe('A sentence.') }))
    .describe('Trajectories without tokens, which are left out of the file.'),
  formats: z.array(
    z.object({
      name: z.string(),
      lost: z
        .array(z.object({ text: z.string(), samples: z.int().min(1).describe('Trajectories that lose it.') }))
        .describe('Information about these trajectories that a file of this format does not contain.'),
    }),
  ),
})
/** Contents and losses of an export, for each format. */
export type ExportPreview = Plain<z.infer<typeof exportPreviewSchema>>

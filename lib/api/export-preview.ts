/** Defines the preview of an export of several trajectories, which is shown before a format is chosen. */
import * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'

/** HTTP header of an exported file with the number of trajectories that it leaves out. The preview names them. */
export const EXCLUDED_HEADER = 'x-rollscope-excluded'

/** The answer of POST /api/export/preview. */
export const exportPreviewSchema = z.object({
  samples: z.int().min(0).describe('Trajectories that are written, a line each.'),
  excluded: z
    .array(z.object({ key: z.string(), title: z.string(), why: z.string().describe('A sentence.') }))
    .describe('Trajectories that are left out of the file: those without tokens.'),
  formats: z.array(
    z.object({
      name: z.string(),
      lost: z
        .array(z.object({ text: z.string(), samples: z.int().min(1).describe('Trajectories that lose it.') }))
        .describe('What a file of this format does not say of these trajectories.'),
    }),
  ),
})
/** Contents and losses of an export, for each format. */
export type ExportPreview = Plain<z.infer<typeof exportPreviewSchema>>

/** What an export of several trajectories would contain: shown before a format is chosen. */
import * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'

/** Header of an exported file: how many trajectories it leaves out. The preview names them. */
export const EXCLUDED_HEADER = 'x-rollscope-excluded'

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
export type ExportPreview = Plain<z.infer<typeof exportPreviewSchema>>

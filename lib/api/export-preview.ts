/** Defines the preview of an export of several trajectories, which is shown before a format is chosen. */
import * as z from 'zod/mini'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** HTTP header of an exported file with the number of trajectories that it leaves out. The preview names them. */
export const EXCLUDED_HEADER = 'x-rollscope-excluded'

/** The answer of POST /api/export/preview. */
export const exportPreviewSchema = z.object({
  samples: withDescription(
    z.int().check(z.minimum(0)),
    'Number of trajectories with tokens. Every format contains them.',
  ),
  forced: withDescription(
    z.int().check(z.minimum(0)),
    'Number of these trajectories with tokens that a branch inserted. The export decides whether they are trained.',
  ),
  excluded: withDescription(
    z.array(z.object({ key: z.string(), title: z.string(), why: withDescription(z.string(), 'A sentence.') })),
    'Trajectories without tokens. Only formats of messages contain them.',
  ),
  formats: z.array(
    z.object({
      name: z.string(),
      lost: withDescription(
        z.array(
          z.object({
            text: z.string(),
            samples: withDescription(z.int().check(z.minimum(1)), 'Trajectories that lose it.'),
          }),
        ),
        'Information about these trajectories that a file of this format does not contain.',
      ),
    }),
  ),
})
/** Contents and losses of an export, for each format. */
export type ExportPreview = Plain<z.infer<typeof exportPreviewSchema>>

import * as z from 'zod/mini'
import { withDescription } from '#lib/util/with-description.ts'

/** Schema of the progress of a download from the Hub, in bytes. */
export const downloadSchema = z.object({
  kind: withDescription(z.enum(['tokenizer', 'model']), 'model: the model of the built-in server.'),
  name: withDescription(z.string(), 'The requested name.'),
  file: withDescription(z.string(), 'The file that is being downloaded.'),
  bytes: withDescription(z.int(), 'Bytes of all files so far.'),
  total: z.int(),
})
/** Progress of a download from the Hub. */
export type DownloadProgress = Readonly<z.infer<typeof downloadSchema>>

/** The answer of GET /api/tokenizers. */
export const tokenizersSchema = z.object({
  downloads: withDescription(
    z.array(downloadSchema),
    'Progress of each download: tokenizers, and the model of the built-in server.',
  ),
  names: withDescription(z.array(z.string()), 'Tokenizers found in the folders of ROLLSCOPE_TOKENIZERS, by name.'),
})

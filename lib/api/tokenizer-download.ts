import * as z from 'zod'

/** Schema of the progress of a download from the Hub, in bytes. */
export const downloadSchema = z.object({
  kind: z.enum(['tokenizer', 'model']).describe('model: the model of the built-in server.'),
  name: z.string().describe('The requested name.'),
  file: z.string().describe('The file that is being downloaded.'),
  bytes: z.int().describe('Bytes of all files so far.'),
  total: z.int(),
})
/** Progress of a download from the Hub. */
export type Download = Readonly<z.infer<typeof downloadSchema>>

/** The answer of GET /api/tokenizers. */
export const tokenizersSchema = z.object({
  downloads: z
    .array(downloadSchema)
    .describe('Progress of each download: tokenizers, and the model of the built-in server.'),
  names: z.array(z.string()).describe('Tokenizers found in the folders of ROLLSCOPE_TOKENIZERS, by name.'),
})

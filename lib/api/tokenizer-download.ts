import * as z from 'zod'

/** Schema of the progress of a download from the Hub, in bytes. */
export const downloadSchema = z.object({
  kind: z.enum(['tokenizer', 'model']).describe('A model is the built-in server’s.'),
  name: z.string().describe('As it was asked for.'),
  file: z.string().describe('The one that is arriving.'),
  bytes: z.int().describe('Of all files together, so far.'),
  total: z.int(),
})
/** Progress of a download from the Hub. */
export type Download = Readonly<z.infer<typeof downloadSchema>>

/** The answer of GET /api/tokenizers. */
export const tokenizersSchema = z.object({
  downloads: z.array(downloadSchema).describe('How far each is: tokenizers, and the built-in server’s model.'),
  names: z.array(z.string()).describe('Tokenizers found in the folders of ROLLSCOPE_TOKENIZERS, by name.'),
})

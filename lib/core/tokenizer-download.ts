import * as z from 'zod'

/** How far the download of a tokenizer is. */
export const downloadSchema = z.object({
  name: z.string().describe('As it was asked for.'),
  file: z.string().describe('The one that is arriving.'),
  bytes: z.int().describe('Of all files together, so far.'),
  total: z.int(),
})
export type Download = Readonly<z.infer<typeof downloadSchema>>

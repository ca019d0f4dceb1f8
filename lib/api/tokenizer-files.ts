import * as z from 'zod'

/** Schema of the files of a tokenizer, as texts. */
export const tokenizerFilesSchema = z.object({
  tokenizerJson: z.string().describe('tokenizer.json'),
  tokenizerConfigJson: z.string().optional().describe('tokenizer_config.json. Omitted: the tokenizer has none.'),
  chatTemplateJinja: z.string().optional().describe('chat_template.jinja. Omitted: the tokenizer has none.'),
  generationConfigJson: z.string().optional().describe('generation_config.json. Omitted: the tokenizer has none.'),
})
/** Texts of the files of a tokenizer. */
export type TokenizerFiles = Readonly<z.infer<typeof tokenizerFilesSchema>>

/** The answer of GET /api/tokenizers/generation-config. */
export const generationConfigSchema = tokenizerFilesSchema.pick({ generationConfigJson: true })

import * as z from 'zod/mini'
import { withDescription } from '#lib/util/with-description.ts'

/** Schema of the files of a tokenizer, as texts. */
export const tokenizerFilesSchema = z.object({
  tokenizerJson: withDescription(z.string(), 'tokenizer.json'),
  tokenizerConfigJson: withDescription(
    z.optional(z.string()),
    'tokenizer_config.json. Omitted: the tokenizer has none.',
  ),
  chatTemplateJinja: withDescription(z.optional(z.string()), 'chat_template.jinja. Omitted: the tokenizer has none.'),
  generationConfigJson: withDescription(
    z.optional(z.string()),
    'generation_config.json. Omitted: the tokenizer has none.',
  ),
})
/** Texts of the files of a tokenizer. */
export type TokenizerFiles = Readonly<z.infer<typeof tokenizerFilesSchema>>

/** The answer of GET /api/tokenizers/generation-config. */
export const generationConfigSchema = z.pick(tokenizerFilesSchema, { generationConfigJson: true })

/** Defines the sampling form, in which every parameter is a typed text. */
import { type SamplingName, samplingNames } from './parameters.ts'

/** A sampling parameter, or `further`: the JSON object of parameters that Rollscope does not know. */
export type SamplingField = SamplingName | 'further'

/** All fields of the sampling form, in display order. */
export const samplingFields: readonly SamplingField[] = [...samplingNames, 'further']

/** Field texts by SGLang's names. */
export type SamplingTexts = Readonly<Record<SamplingField, string>>

/** Field texts on the first visit. An empty text is not sent, so the server's default applies. */
export const DEFAULT_SAMPLING_TEXTS: SamplingTexts = {
  ...(Object.fromEntries(samplingFields.map((name) => [name, ''])) as SamplingTexts),
  temperature: '0.7',
  top_p: '1',
  max_new_tokens: '512',
}

/** Replaces any grammar by this one, because SGLang takes only one. */
export const withGrammar = (texts: SamplingTexts, grammar: Readonly<Partial<SamplingTexts>>): SamplingTexts => ({
  ...texts,
  json_schema: '',
  regex: '',
  ebnf: '',
  structural_tag: '',
  ...grammar,
})

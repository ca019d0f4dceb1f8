/** Defines the sampling form, in which every parameter is a typed text. */
import * as z from 'zod/mini'
import { objectOf } from '#lib/json/json-object.ts'
import { type SamplingName, samplingNames } from './parameters.ts'
import { readSamplingText } from './texts.ts'
import { combinationProblem, furtherProblem, type SamplingRequest } from './values.ts'

/** A sampling parameter, or `further`: the JSON object of parameters that Rollscope does not know. */
export type SamplingField = SamplingName | 'further'

/** All fields of the sampling form, in display order. */
export const samplingFields: readonly SamplingField[] = [...samplingNames, 'further']

/** Field texts on the first visit. An empty text is not sent, so the server's default applies. */
const FIRST_SAMPLING: Readonly<Partial<Record<SamplingField, string>>> = {
  temperature: '0.7',
  top_p: '1',
  max_new_tokens: '512',
}

const shape = Object.fromEntries(
  samplingFields.map((name) => [name, z._default(z.string(), FIRST_SAMPLING[name] ?? '')]),
) as Readonly<Record<SamplingField, z.ZodMiniDefault<z.ZodMiniString>>>

/** Schema of the sampling form's texts. */
export const samplingTextsSchema = z.readonly(z.object(shape))
/** Field texts by SGLang's names. */
export type SamplingTexts = Readonly<Record<SamplingField, string>>

/** Replaces any grammar by this one, because SGLang takes only one. */
export const withGrammar = (texts: SamplingTexts, grammar: Readonly<Partial<SamplingTexts>>): SamplingTexts => ({
  ...texts,
  json_schema: '',
  regex: '',
  ebnf: '',
  structural_tag: '',
  ...grammar,
})

/** Returns the request that the texts describe, and the errors of fields by their name. */
export function parseSamplingTexts(texts: SamplingTexts): {
  readonly sampling: SamplingRequest
  readonly errors: Readonly<Record<string, string>>
} {
  const errors: Record<string, string> = {}
  const values: [string, unknown][] = []
  for (const name of samplingNames) {
    const read = readSamplingText(name, texts[name])
    if (read.kind === 'value') values.push([name, read.value])
    if (read.kind === 'problem') errors[name] = read.why
  }
  const further = objectOf(texts.further)
  const refused = Object.keys(further ?? {}).flatMap((name) => furtherProblem(name) ?? [])[0]
  if (!further) errors.further = 'must be a JSON object, for example {"some_parameter": 1}'
  else if (refused !== undefined) errors.further = `must have ${refused}`
  else if (Object.keys(further).length > 0) values.push(['further', further])
  const sampling = Object.fromEntries(values) as SamplingRequest
  const combination = combinationProblem(sampling)
  if (combination) errors[combination.name] = `must be ${combination.why}`
  return { sampling, errors }
}

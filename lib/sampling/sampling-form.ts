/** Reads the texts of the sampling form: those that a browser remembers, and the request that they describe. */
import * as z from 'zod/mini'
import { objectOf } from '#lib/json/json-object.ts'
import type { SamplingTexts } from './fields.ts'
import { samplingNames } from './parameters.ts'
import { readSamplingText } from './texts.ts'
import { combinationProblem, furtherProblem, type SamplingRequest } from './values.ts'

/** Returns the schema of texts of a form. A missing text gets its default. */
export const textsSchema = <Name extends string>(defaults: Readonly<Record<Name, string>>) =>
  z.readonly(
    z.object(
      Object.fromEntries(
        Object.entries<string>(defaults).map(([name, text]) => [name, z._default(z.string(), text)]),
      ) as Readonly<Record<Name, z.ZodMiniDefault<z.ZodMiniString>>>,
    ),
  )

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

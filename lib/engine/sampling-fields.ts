/** Sampling parameters by the names and in the forms of an engine other than SGLang. */
import { ENGINE_PARAMETERS, unsupportedParameter } from '#lib/sampling/engine-parameters.ts'
import { type SamplingName, samplingNames } from '#lib/sampling/parameters.ts'
import { toSamplingRequest } from '#lib/sampling/sampling-request.ts'
import { ANY_JSON, type Sampling } from '#lib/sampling/values.ts'
import { refusedRequest } from './refusal.ts'

/** Returns the value of a parameter in the form of an engine, by SGLang's name of the parameter. */
export type ValueForms = Readonly<Partial<Record<SamplingName, (sampling: Sampling) => unknown>>>

/** The forms in which every engine but SGLang takes these values. */
const FORMS: ValueForms = {
  top_k: ({ top_k: k = 0 }) => Math.max(0, k),
  json_schema: ({ json_schema: schema = ANY_JSON }) => (schema === ANY_JSON ? {} : JSON.parse(schema)),
}

/**
 * Returns the fields of a request. A name with a dot is a field of an object. Parameters outside of the table keep their names. Throws
 * EngineError REQUEST_REFUSED with the first parameter that the engine does not take.
 */
export function toSamplingFields(
  sampling: Sampling,
  engine: keyof typeof ENGINE_PARAMETERS,
  ownForms: ValueForms = {},
): Record<string, unknown> {
  const { further, ...known } = toSamplingRequest(sampling)
  const refusal = unsupportedParameter(engine, { ...known, further })
  if (refusal) throw refusedRequest(refusal)
  const fields: Record<string, unknown> = { ...further }
  for (const name of samplingNames) {
    const path = ENGINE_PARAMETERS[engine][name]
    if (path === undefined || sampling[name] === undefined) continue
    const [field = path, inner] = path.split('.')
    const formOf = ownForms[name] ?? FORMS[name]
    const value = formOf ? formOf(sampling) : sampling[name]
    fields[field] = inner === undefined ? value : Object.assign({}, fields[field], { [inner]: value })
  }
  return fields
}

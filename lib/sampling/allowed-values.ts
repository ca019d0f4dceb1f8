/** Describes the allowed values of sampling parameters in words, which are derived from the table. */
import { countText } from '#lib/util/text/count-with-noun.ts'
import { type ParameterKind, type SamplingName, samplingParameter } from './parameters.ts'

/** A maximum from here on means unbounded, so its digits are not shown. */
const OPEN_ENDED = 2 ** 30

/** Returns the allowed values of a parameter as a noun phrase. */
export const allowedValues = (name: SamplingName): string => allowedValuesOfKind(samplingParameter(name))

/** Returns the allowed values of a parameter kind as a noun phrase. */
export function allowedValuesOfKind(parameter: ParameterKind): string {
  switch (parameter.kind) {
    case 'number':
      return `a number ${parameter.isAbove ? 'above' : 'from'} ${parameter.minimum}${parameter.isAbove ? ', up' : ''} to ${parameter.maximum}`
    case 'whole':
      return `a whole number${boundsText(parameter)}${parameter.also === undefined ? '' : `, or ${parameter.also}`}`
    case 'switch':
      return 'true or false'
    case 'texts':
      return `at most ${parameter.most} non-empty texts`
    case 'patterns':
      return `at most ${parameter.most} regular expressions of at most ${parameter.mostBytes} bytes each`
    case 'ids':
      return `at most ${parameter.most} token ids`
    case 'biases':
      return `token ids, each with a number from ${parameter.minimum} to ${parameter.maximum}`
    case 'json':
      return `a ${parameter.what}, a JSON object as text`
    case 'grammar':
      return `a ${parameter.what}`
    case 'object':
      return 'a JSON object'
  }
}

function boundsText({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }): string {
  const from = minimum > -OPEN_ENDED ? ` from ${minimum}` : ''
  return maximum < OPEN_ENDED ? `${from} to ${countText(maximum)}` : from
}

/** Filters, and how they are made from a Python signature. */
import { bindArguments, oneArgument, parseSignature } from '../python/arguments.ts'
import type { Arguments, Runtime, Value } from '../python/values.ts'

/** A Jinja filter: changes `value` with the further arguments of the call. Throws PyError. */
export type Filter = (value: Value, call: Arguments, runtime: Runtime) => Value
/** A filter with its name in templates. */
export type NamedFilter = readonly [string, Filter]

/**
 * Makes a filter of a function written in Python, from its signature such as `do_center(value, width=)`. `run` gets undefined for an
 * argument that has its default.
 */
export function filter(text: string, run: (values: readonly (Value | undefined)[], runtime: Runtime) => Value): Filter {
  const parameters = parseSignature(text)
  return (value, call, runtime) => run(bindArguments(parameters, withValue(value, call)), runtime)
}

/** Makes a filter of a function written in C that takes one value. */
export const oneValueFilter =
  (name: string, run: (value: Value, runtime: Runtime) => Value): Filter =>
  (value, call, runtime) =>
    run(oneArgument(name, withValue(value, call)), runtime)

/** Returns the arguments with the filtered value as the first. */
const withValue = (value: Value, call: Arguments): Arguments => ({
  positional: [value, ...call.positional],
  named: call.named,
})

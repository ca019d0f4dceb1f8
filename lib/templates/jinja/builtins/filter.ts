/** What a filter is, and how one is made of a signature in Python's words. */
import { bound, oneArgument, signature } from '../python/arguments.ts'
import type { Arguments, Runtime, Value } from '../python/values.ts'

export type Filter = (value: Value, call: Arguments, runtime: Runtime) => Value
export type NamedFilter = readonly [string, Filter]

/** Of a function in Python: `do_center(value, width=)`. `run` gets undefined where a default is meant. */
export function filter(text: string, run: (values: readonly (Value | undefined)[], runtime: Runtime) => Value): Filter {
  const parameters = signature(text)
  return (value, call, runtime) => run(bound(parameters, withValue(value, call)), runtime)
}

/** Of a function in C that takes one value. */
export const oneValueFilter =
  (name: string, run: (value: Value, runtime: Runtime) => Value): Filter =>
  (value, call, runtime) =>
    run(oneArgument(name, withValue(value, call)), runtime)

/** The value that a filter stands behind is its first argument. */
const withValue = (value: Value, call: Arguments): Arguments => ({
  positional: [value, ...call.positional],
  named: call.named,
})

/** Binds arguments to parameters as Python does, with Python's messages for arguments that do not fit. */
import { asInt, clampInt, type Int, integer } from './numbers.ts'
import { typeName } from './text/repr.ts'
import { type Arguments, PyError, type Value } from './values.ts'

const typeError = (message: string): PyError => new PyError('TypeError', message)
const plural = (count: number): string => (count === 1 ? '' : 's')

/** Checks a call of a method in C that takes nothing; `name` is like `str.upper`. */
export function noArguments(name: string, call: Arguments): void {
  refuseNamed(name, call)
  if (call.positional.length > 0) throw typeError(`${name}() takes no arguments (${call.positional.length} given)`)
}

/** Returns the argument of a function in C that takes one. */
export function oneArgument(name: string, call: Arguments): Value {
  refuseNamed(name, call)
  const [value] = call.positional
  if (value === undefined || call.positional.length > 1) {
    throw typeError(`${name}() takes exactly one argument (${call.positional.length} given)`)
  }
  return value
}

/** Returns the arguments of a function in C that takes `least` to `most` and no names; `name` is like `str.center`. */
export function positionalArguments(name: string, least: number, most: number, call: Arguments): readonly Value[] {
  refuseNamed(name, call)
  const count = call.positional.length
  if (count >= least && count <= most) return call.positional
  const wanted = count < least ? least : most
  const bound = least === most ? '' : count < least ? 'at least ' : 'at most '
  const short = name.slice(name.indexOf('.') + 1)
  throw typeError(`${short} expected ${bound}${wanted} argument${plural(wanted)}, got ${count}`)
}

/**
 * Returns the arguments like positionalArguments, with the messages of functions whose arguments C parses by a format: find, count,
 * startswith.
 */
export function parsedArguments(name: string, least: number, most: number, call: Arguments): readonly Value[] {
  refuseNamed(name, call)
  const count = call.positional.length
  if (count >= least && count <= most) return call.positional
  const wanted = count < least ? least : most
  const bound = count < least ? 'at least' : 'at most'
  const short = name.slice(name.indexOf('.') + 1)
  throw typeError(`${short}() takes ${bound} ${wanted} argument${plural(wanted)} (${count} given)`)
}

/** Throws TypeError if the call has named arguments. */
export function refuseNamed(name: string, call: Arguments): void {
  if (call.named.size > 0) throw typeError(`${name}() takes no keyword arguments`)
}

/** Returns the arguments of a function in C that knows its parameters by name, in their order; `name` is like `split`. */
export function namedArguments(name: string, parameters: readonly string[], call: Arguments): (Value | undefined)[] {
  const argumentCount = call.positional.length + call.named.size
  if (argumentCount > parameters.length) {
    throw typeError(
      `${name}() takes at most ${parameters.length} argument${plural(parameters.length)} (${argumentCount} given)`,
    )
  }
  const values: (Value | undefined)[] = [...call.positional]
  for (const [key, value] of call.named) {
    const index = parameters.indexOf(key)
    if (index < 0) throw typeError(`'${key}' is an invalid keyword argument for ${name}()`)
    if (index < call.positional.length) {
      throw typeError(`argument for ${name}() given by name ('${key}') and position (${index + 1})`)
    }
    values[index] = value
  }
  return values
}

/** The signature of a function written in Python: a filter, a test or a global. */
export interface Signature {
  /** Value of the function's `__name__`. */
  readonly name: string
  readonly parameters: readonly string[]
  /** Number of parameters without a default. */
  readonly required: number
  /** Number of parameters that jinja2 fills in itself: environment or context. */
  readonly hidden: number
}

/** Reads a signature such as `do_center(value, width=)`. Parameters in brackets are those that jinja2 fills in. */
export function parseSignature(text: string): Signature {
  const [, name = '', list = ''] = /^(.+?)\((.*)\)$/.exec(text) ?? []
  const parts = list.split(', ').filter((part) => part !== '')
  return {
    name,
    parameters: parts.map((part) => part.replace(/=$/, '').replace(/[[\]]/g, '')),
    required: parts.filter((part) => !part.endsWith('=')).length,
    hidden: parts.filter((part) => part.startsWith('[')).length,
  }
}

/** Returns the values of the parameters that are not hidden; undefined for those that have their default. */
export function bindArguments(
  { name, parameters, required, hidden }: Signature,
  call: Arguments,
): (Value | undefined)[] {
  const positional = call.positional.length + hidden
  const values: (Value | undefined)[] = [...call.positional]
  for (const [key, value] of call.named) {
    const index = parameters.indexOf(key)
    if (index < 0) throw typeError(`${name}() got an unexpected keyword argument '${key}'`)
    if (index < positional) throw typeError(`${name}() got multiple values for argument '${key}'`)
    values[index - hidden] = value
  }
  if (positional > parameters.length) throw tooMany(name, required, parameters.length, positional)
  const missing = parameters.slice(hidden, required).filter((_, index) => values[index] === undefined)
  if (missing.length > 0) {
    throw typeError(
      `${name}() missing ${missing.length} required positional argument${plural(missing.length)}: ${listNames(missing)}`,
    )
  }
  return values
}

function tooMany(name: string, required: number, all: number, argumentCount: number): PyError {
  const takes = required === all ? `${all}` : `from ${required} to ${all}`
  const were = argumentCount === 1 ? 'was' : 'were'
  return typeError(`${name}() takes ${takes} positional argument${plural(all)} but ${argumentCount} ${were} given`)
}

function listNames(names: readonly string[]): string {
  const quoted = names.map((name) => `'${name}'`)
  if (quoted.length < 3) return quoted.join(' and ')
  return `${quoted.slice(0, -1).join(', ')}, and ${quoted.at(-1)}`
}

/** Implements operator.index: returns the int of an int or bool, and throws TypeError for other values. */
export function indexOf(value: Value): Int {
  const index = integer(value)
  if (index !== undefined) return typeof index === 'bigint' ? asInt(index) : index
  throw typeError(`'${typeName(value)}' object cannot be interpreted as an integer`)
}

/** Returns a size that C counts as ssize_t. Throws OverflowError beyond it. */
export function sizeArgument(value: Value): number {
  const index = indexOf(value)
  if (index > 0x7fffffffffffffffn || index < -0x8000000000000000n) {
    throw new PyError('OverflowError', 'Python int too large to convert to C ssize_t')
  }
  return clampInt(index)
}

/** Arguments bound to parameters as Python binds them, with its words where they do not fit. */
import { asInt, clamped, type Int, integer } from './numbers.ts'
import { typeName } from './text/repr.ts'
import { type Arguments, PyError, type Value } from './values.ts'

const typeError = (message: string): PyError => new PyError('TypeError', message)
const plural = (count: number): string => (count === 1 ? '' : 's')

/** For methods in C that take nothing; `name` is `str.upper`. */
export function noArguments(name: string, call: Arguments): void {
  refuseNamed(name, call)
  if (call.positional.length > 0) throw typeError(`${name}() takes no arguments (${call.positional.length} given)`)
}

/** For functions in C that take one. */
export function oneArgument(name: string, call: Arguments): Value {
  refuseNamed(name, call)
  const [value] = call.positional
  if (value === undefined || call.positional.length > 1) {
    throw typeError(`${name}() takes exactly one argument (${call.positional.length} given)`)
  }
  return value
}

/** For functions in C that take `least` to `most` and no names; `name` is `str.center`. */
export function positionalArguments(name: string, least: number, most: number, call: Arguments): readonly Value[] {
  refuseNamed(name, call)
  const count = call.positional.length
  if (count >= least && count <= most) return call.positional
  const wanted = count < least ? least : most
  const bound = least === most ? '' : count < least ? 'at least ' : 'at most '
  const short = name.slice(name.indexOf('.') + 1)
  throw typeError(`${short} expected ${bound}${wanted} argument${plural(wanted)}, got ${count}`)
}

/** As positionalArguments, where C parses them with a format: find, count, startswith. */
export function parsedArguments(name: string, least: number, most: number, call: Arguments): readonly Value[] {
  refuseNamed(name, call)
  const count = call.positional.length
  if (count >= least && count <= most) return call.positional
  const wanted = count < least ? least : most
  const bound = count < least ? 'at least' : 'at most'
  const short = name.slice(name.indexOf('.') + 1)
  throw typeError(`${short}() takes ${bound} ${wanted} argument${plural(wanted)} (${count} given)`)
}

export function refuseNamed(name: string, call: Arguments): void {
  if (call.named.size > 0) throw typeError(`${name}() takes no keyword arguments`)
}

/** For functions in C that know their parameters by name; `name` is `split`. */
export function namedArguments(name: string, parameters: readonly string[], call: Arguments): (Value | undefined)[] {
  const given = call.positional.length + call.named.size
  if (given > parameters.length) {
    throw typeError(
      `${name}() takes at most ${parameters.length} argument${plural(parameters.length)} (${given} given)`,
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

/** A function that is written in Python: a filter, a test, a global. */
export interface Signature {
  /** As its __name__ is. */
  readonly name: string
  readonly parameters: readonly string[]
  /** How many of the parameters have no default. */
  readonly required: number
  /** How many of the parameters jinja2 fills in itself: environment or context. */
  readonly hidden: number
}

/** `do_center(value, width=80)`; a parameter in brackets is one that jinja2 fills in. */
export function signature(text: string): Signature {
  const [, name = '', list = ''] = /^(.+?)\((.*)\)$/.exec(text) ?? []
  const parts = list.split(', ').filter((part) => part !== '')
  return {
    name,
    parameters: parts.map((part) => part.replace(/=$/, '').replace(/[[\]]/g, '')),
    required: parts.filter((part) => !part.endsWith('=')).length,
    hidden: parts.filter((part) => part.startsWith('[')).length,
  }
}

/** Values of the parameters that are not hidden; undefined where the default is meant. */
export function bound({ name, parameters, required, hidden }: Signature, call: Arguments): (Value | undefined)[] {
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
      `${name}() missing ${missing.length} required positional argument${plural(missing.length)}: ${listed(missing)}`,
    )
  }
  return values
}

function tooMany(name: string, required: number, all: number, given: number): PyError {
  const takes = required === all ? `${all}` : `from ${required} to ${all}`
  const were = given === 1 ? 'was' : 'were'
  return typeError(`${name}() takes ${takes} positional argument${plural(all)} but ${given} ${were} given`)
}

function listed(names: readonly string[]): string {
  const shown = names.map((name) => `'${name}'`)
  if (shown.length < 3) return shown.join(' and ')
  return `${shown.slice(0, -1).join(', ')}, and ${shown.at(-1)}`
}

/** operator.index. */
export function indexOf(value: Value): Int {
  const index = integer(value)
  if (index !== undefined) return typeof index === 'bigint' ? asInt(index) : index
  throw typeError(`'${typeName(value)}' object cannot be interpreted as an integer`)
}

/** For sizes that C counts. */
export function sizeOf(value: Value): number {
  const index = indexOf(value)
  if (index > 0x7fffffffffffffffn || index < -0x8000000000000000n) {
    throw new PyError('OverflowError', 'Python int too large to convert to C ssize_t')
  }
  return clamped(index)
}

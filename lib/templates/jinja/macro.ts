/** Macros: `{% macro %}` and the body of a call block, which `caller()` calls. */

import { Markup } from './python/markup.ts'
import { quoteText } from './python/text/code-points.ts'
import {
  type Arguments,
  PyDict,
  PyError,
  PyObject,
  PyTuple,
  type Runtime,
  Undefined,
  type Value,
} from './python/values.ts'
import type { Render, VariableFrame } from './render.ts'
import { withoutPieces } from './render.ts'
import type { Traced } from './source-map.ts'

/** A compiled macro: its signature and its body. */
export interface MacroDefinition {
  /** undefined for the body of a call block. */
  readonly name: string | undefined
  readonly parameters: readonly string[]
  /** Whether the body uses the special names. */
  readonly usesCaller: boolean
  readonly usesKwargs: boolean
  readonly usesVarargs: boolean
  /** Height of the body's tree, in nodes. */
  readonly height: number
  /**
   * Runs the body. `values` are the arguments in the order of the parameters (undefined if not given), followed by caller, kwargs and
   * varargs if the body uses them. `outer` is the frame in which the macro was defined.
   */
  readonly run: (outer: VariableFrame, values: readonly (Value | undefined)[]) => void
}

/** A macro as a value of the template. A call returns the text that its body writes. */
export class Macro extends PyObject {
  readonly typeName = 'Macro'
  override readonly module = 'jinja2.runtime'
  private readonly definition: MacroDefinition
  private readonly outer: VariableFrame

  constructor(definition: MacroDefinition, outer: VariableFrame) {
    super()
    this.definition = definition
    this.outer = outer
  }

  repr(): string {
    const { name } = this.definition
    return `<Macro ${name === undefined ? 'anonymous' : quoteText(name)}>`
  }

  override attribute(name: string): Value | undefined {
    const { parameters, usesCaller, usesKwargs, usesVarargs } = this.definition
    switch (name) {
      case 'name':
        return this.definition.name ?? null
      case 'arguments':
        return new PyTuple(parameters)
      case 'caller':
        return usesCaller
      case 'catch_kwargs':
        return usesKwargs
      case 'catch_varargs':
        return usesVarargs
      case 'explicit_caller':
        return parameters.includes('caller')
      default:
        return undefined
    }
  }

  override call(call: Arguments, runtime: Runtime): Value {
    const render = runtime as Render
    const text = withoutPieces(this.invoke(call, render))
    return render.autoescape ? new Markup(text) : text
  }

  /** Calls the macro like `call`, but keeps the pieces of the text. */
  invoke(call: Arguments, render: Render): string | Traced {
    const values = this.bind(call)
    render.step()
    return render.run(this.definition.height, () => this.definition.run(this.outer, values))
  }

  private bind({ positional, named }: Arguments): readonly (Value | undefined)[] {
    const { name, parameters, usesCaller, usesKwargs, usesVarargs } = this.definition
    const values: (Value | undefined)[] = positional.slice(0, parameters.length)
    const left = new Map(named)
    const takesCaller = parameters.includes('caller')
    for (const parameter of parameters.slice(values.length)) {
      values.push(left.get(parameter))
      left.delete(parameter)
    }
    if (usesCaller && !takesCaller) {
      values.push(left.get('caller') ?? new Undefined('No caller defined'))
      left.delete('caller')
    }
    const quoted = name === undefined ? 'None' : quoteText(name)
    const [unknown] = left.keys()
    if (usesKwargs) values.push(PyDict.of(left))
    else if (left.has('caller'))
      throw new PyError(
        'TypeError',
        `macro ${quoted} was invoked with two values for the special caller argument. This is most likely a bug.`,
      )
    else if (unknown !== undefined)
      throw new PyError('TypeError', `macro ${quoted} takes no keyword argument ${quoteText(unknown)}`)
    if (usesVarargs) values.push(new PyTuple(positional.slice(parameters.length)))
    else if (positional.length > parameters.length)
      throw new PyError('TypeError', `macro ${quoted} takes not more than ${parameters.length} argument(s)`)
    return values
  }
}

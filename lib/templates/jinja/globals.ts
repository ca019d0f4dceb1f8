/** What every chat template can call: jinja2's globals and those that transformers adds. */
import { PyObject, type Value } from './values.ts'

export const globals: ReadonlyMap<string, Value> = new Map()

/** What `{% set ns.name = value %}` may assign to. */
export class Namespace extends PyObject {
  readonly typeName = 'TemplateNamespace'
  repr(): string {
    return '<Namespace {}>'
  }
  /** Throws PyError (SecurityError) for a name that begins with an underscore. */
  set(_name: string, _value: Value): void {}
}

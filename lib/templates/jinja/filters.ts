/** Every filter of jinja2 3.1.6 by its name; tojson as transformers defines it. */
import type { Arguments, Runtime, Value } from './values.ts'

export type Filter = (value: Value, call: Arguments, runtime: Runtime) => Value

export const filters: ReadonlyMap<string, Filter> = new Map()

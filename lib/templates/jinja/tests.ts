/** Every test of jinja2 3.1.6 by its name. */
import type { Arguments, Runtime, Value } from './values.ts'

export type Test = (value: Value, call: Arguments, runtime: Runtime) => boolean

export const tests: ReadonlyMap<string, Test> = new Map()

/** Python's operators and built-in functions on values: what `a + b`, `a in b`, str(a), len(a) do. */
import { PyError, type Runtime, type Value } from './values.ts'

const missing = (): never => {
  throw new PyError('NotImplementedError', 'not there yet')
}

export const add = (_a: Value, _b: Value, _runtime: Runtime): Value => missing()
export const subtract = (_a: Value, _b: Value, _runtime: Runtime): Value => missing()
export const multiply = (_a: Value, _b: Value, _runtime: Runtime): Value => missing()
export const divide = (_a: Value, _b: Value, _runtime: Runtime): Value => missing()
export const floorDivide = (_a: Value, _b: Value, _runtime: Runtime): Value => missing()
export const modulo = (_a: Value, _b: Value, _runtime: Runtime): Value => missing()
export const power = (_a: Value, _b: Value, _runtime: Runtime): Value => missing()
export const concatenate = (_a: Value, _b: Value, _runtime: Runtime): Value => missing()
export const negate = (_value: Value): Value => missing()
export const positive = (_value: Value): Value => missing()

/** `!=` is its opposite. */
export const equals = (_a: Value, _b: Value, _runtime: Runtime): boolean => missing()
export type Comparison = '<' | '<=' | '>' | '>='
export const compare = (_sign: Comparison, _a: Value, _b: Value, _runtime: Runtime): boolean => missing()
export const contains = (_needle: Value, _container: Value, _runtime: Runtime): boolean => missing()
export const truth = (_value: Value): boolean => missing()
export const str = (_value: Value, _runtime: Runtime): string => missing()
export const repr = (_value: Value, _runtime: Runtime): string => missing()
export const iterate = (_value: Value, _runtime: Runtime): Iterator<Value> => missing()
export const length = (_value: Value, _runtime: Runtime): number => missing()

/** `value.name`, `value[key]` and `value[start:stop:step]` as jinja2's immutable sandbox looks them up. */
import { PyError, type Runtime, type Value } from './values.ts'

const missing = (): never => {
  throw new PyError('NotImplementedError', 'not there yet')
}

/** The attribute, else the item; Undefined where there is neither or where the sandbox keeps it closed. */
export const getAttribute = (_value: Value, _name: string, _runtime: Runtime): Value => missing()
/** The item, else (for a str key) the attribute. */
export const getItem = (_value: Value, _key: Value, _runtime: Runtime): Value => missing()
/** null for a part that was left out. Raises where the value cannot be sliced. */
export const slice = (_value: Value, _start: Value, _stop: Value, _step: Value, _runtime: Runtime): Value => missing()

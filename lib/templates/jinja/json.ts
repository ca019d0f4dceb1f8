/** JSON as Python's json module reads and writes it. */
import { PyError, type Runtime, type Value } from './values.ts'

const missing = (): never => {
  throw new PyError('NotImplementedError', 'not there yet')
}

/** What is wrong in a JSON text, and where. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  /** Both from 1; the column counts code points. */
  readonly line: number
  readonly column: number
  constructor(message: string, line: number, column: number) {
    super(message)
    this.line = line
    this.column = column
  }
}

/** json.loads: 1 is an int of any size, 1.0 a float, the last of equal keys wins. Throws JsonError. */
export const readJson = (_text: string): Value => missing()

/** Plain JavaScript data as a value: whole numbers are ints, undefined members are left out, values stay as they are. */
export const fromJs = (_value: unknown): Value => missing()

export interface JsonOptions {
  readonly ensureAscii: boolean
  /** Spaces, or the text that indents. */
  readonly indent: number | string | undefined
  /** Between items, between key and value; undefined: as json.dumps chooses. */
  readonly separators: readonly [string, string] | undefined
  readonly sortKeys: boolean
}

/** json.dumps. Throws PyError (TypeError) for what is no JSON. */
export const toJson = (_value: Value, _options: JsonOptions, _runtime: Runtime): string => missing()

/** Turns the values of columnar files and databases into JSON values, exactly or not at all. */
import { fieldPathText, type Violation } from '#lib/util/schema-violation.ts'
import type { Row } from './container.ts'

/** Returns a row of columns as a JSON value. */
export function jsonRow(row: Readonly<Record<string, unknown>>): Row {
  try {
    return { ok: true, value: jsonObject(Object.entries(row), []) }
  } catch (error) {
    if (!(error instanceof InexactError)) throw error
    return { ok: false, error: error.violation }
  }
}

class InexactError extends Error {
  override readonly name = 'InexactError'
  readonly violation: Violation
  constructor(path: readonly PropertyKey[], expected: string, found: string) {
    super(expected)
    this.violation = { path: fieldPathText(path), expected, found }
  }
}

type Path = readonly (string | number)[]

function jsonValue(value: unknown, path: Path): unknown {
  switch (typeof value) {
    case 'bigint': {
      const number = Number(value)
      if (Number.isSafeInteger(number)) return number
      throw new InexactError(path, 'a whole number of at most 2^53', String(value))
    }
    case 'undefined':
      return null
    case 'object':
      if (value === null) return null
      if (ArrayBuffer.isView(value)) return numbersOf(value, path)
      if (Array.isArray(value)) return value.map((entry, index) => jsonValue(entry, [...path, index]))
      if (value instanceof Date) return dateText(value, path)
      if (value instanceof Map)
        return jsonObject(
          Array.from(value, ([key, entry]) => [String(key), entry] as const),
          path,
        )
      return jsonObject(Object.entries(value), path)
    default:
      return value
  }
}

/** Columns may have names to which JavaScript gives a meaning. */
const jsonObject = (entries: Iterable<readonly [string, unknown]>, path: Path): object =>
  Object.fromEntries(Array.from(entries, ([key, value]) => [key, jsonValue(value, [...path, key])]))

/** Bytes and lists of numbers become lists of numbers. */
function numbersOf(view: ArrayBufferView, path: Path): readonly unknown[] {
  if (view instanceof BigInt64Array || view instanceof BigUint64Array)
    return Array.from(view, (value, index) => jsonValue(value, [...path, index]))
  if (view instanceof DataView) return Array.from(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
  return Array.from(view as Uint8Array)
}

function dateText(date: Date, path: Path): string {
  if (Number.isNaN(date.getTime())) throw new InexactError(path, 'a date', 'one beyond the calendar')
  return date.toISOString()
}

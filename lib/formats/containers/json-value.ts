/** Turns the values of columnar files and databases into JSON values, exactly or not at all. */
import { fieldPathText, type Violation } from '#lib/util/schema-violation.ts'
import type { Row } from './container.ts'

/** Returns a row of columns as a JSON value. */
export function jsonRow(row: Readonly<Record<string, unknown>>): Row {
  const inexact: Violation[] = []
  const value = jsonObject(Object.entries(row), undefined, inexact)
  const [error] = inexact
  return error ? { ok: false, error } : { ok: true, value }
}

/** The place of a value. Lists have one place for all their entries, which may be millions of numbers. */
interface Place {
  readonly around: Place | undefined
  readonly key: string | number
}

const pathOf = (place: Place | undefined): readonly (string | number)[] =>
  place ? [...pathOf(place.around), place.key] : []

/** Adds a violation to `inexact` for each value that JSON cannot represent, and returns null in its place. */
function jsonValue(value: unknown, key: string | number, around: Place | undefined, inexact: Violation[]): unknown {
  switch (typeof value) {
    case 'bigint': {
      const number = Number(value)
      if (Number.isSafeInteger(number)) return number
      const path = fieldPathText(pathOf({ key, around }))
      inexact.push({ path, expected: 'a whole number of at most 2^53', found: String(value) })
      return null
    }
    case 'undefined':
      return null
    case 'object': {
      if (value === null) return null
      const place = { key, around }
      if (ArrayBuffer.isView(value) || Array.isArray(value))
        return Array.from(value as readonly unknown[], (entry, index) => jsonValue(entry, index, place, inexact))
      if (value instanceof Date) return dateText(value, place, inexact)
      if (value instanceof Map)
        return jsonObject(
          Array.from(value, ([name, entry]) => [String(name), entry] as const),
          place,
          inexact,
        )
      return jsonObject(Object.entries(value), place, inexact)
    }
    default:
      return value
  }
}

/** Columns may have names to which JavaScript gives a meaning. */
const jsonObject = (
  entries: Iterable<readonly [string, unknown]>,
  place: Place | undefined,
  inexact: Violation[],
): object => Object.fromEntries(Array.from(entries, ([key, value]) => [key, jsonValue(value, key, place, inexact)]))

function dateText(date: Date, place: Place, inexact: Violation[]): string | null {
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  inexact.push({ path: fieldPathText(pathOf(place)), expected: 'a date', found: 'one beyond the calendar' })
  return null
}

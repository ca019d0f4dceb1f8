/**
 * Returns whether two plain values have the same JSON, without writing it: the same entries in the same order. Fields with
 * the value undefined do not count.
 */
export function hasSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (!isHolder(one) || !isHolder(other)) return false
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((entry, index) => hasSameJson(entry, other[index]))
    )
  const [fields, others] = [fieldsOf(one), fieldsOf(other)]
  return (
    fields.length === others.length &&
    fields.every(([name, value], index) => name === others[index]?.[0] && hasSameJson(value, others[index]?.[1]))
  )
}

const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null

const fieldsOf = (holder: object): readonly [string, unknown][] =>
  Object.entries(holder).filter(([, value]) => value !== undefined)

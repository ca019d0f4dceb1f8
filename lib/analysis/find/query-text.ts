/** Writes the normalized form of a query. */
import type { Interval } from '#lib/util/interval.ts'
import { unreachable } from '#lib/util/unreachable.ts'
import { hasCapital } from './folded-text.ts'
import { NAMED_FACTS, NUMBER_FACTS, type Query } from './query.ts'

/** Returns the text of a query. Parsing the text gives the same query. */
export function queryText(query: Query): string {
  switch (query.kind) {
    case 'and':
      return query.parts
        .map((part) => (part.kind === 'or' || part.kind === 'and' ? `(${queryText(part)})` : queryText(part)))
        .join(' ')
    case 'or':
      return query.parts.map((part) => (part.kind === 'or' ? `(${queryText(part)})` : queryText(part))).join(' or ')
    case 'not':
      return `not ${query.part.kind === 'and' || query.part.kind === 'or' ? `(${queryText(query.part)})` : queryText(query.part)}`
    case 'text':
      return `${query.isExact && !hasCapital(query.text) ? 'case:' : ''}${JSON.stringify(query.text)}`
    case 'pattern':
      return `/${query.pattern.source}/${query.pattern.flags.replace('g', '')}`
    case 'ids':
      return `id:${query.ids.join(',')}`
    case 'name':
      return `${query.name}:${JSON.stringify(query.value)}`
    case 'number': {
      const { number, within } = query
      const name =
        number.kind === 'fact' || isPlain(number.name) ? number.name : `column:${JSON.stringify(number.name)}`
      const [first] = within
      const comparison = first && within.length === 1 ? comparisonText(first) : undefined
      return `${query.withPrompt ? 'prompt ' : ''}${name}${comparison ?? `:${within.map(rangeText).join(',')}`}`
    }
    default:
      return unreachable(query)
  }
}

/** Returns an interval as a comparison such as `<3`; undefined if both ends are finite. */
function comparisonText({ low, high, without }: Interval): string | undefined {
  if (low === Number.NEGATIVE_INFINITY) return `${without === undefined ? '<=' : '<'}${high}`
  if (high === Number.POSITIVE_INFINITY) return `${without === undefined ? '>=' : '>'}${low}`
  return undefined
}

const rangeText = ({ low, high }: Interval): string => (low === high ? String(low) : `${low}..${high}`)

/** Returns true for a column name that can be written alone. A name with another meaning needs the prefix `column:`. */
const isPlain = (name: string): boolean =>
  /^[A-Za-z_][\w.]*$/.test(name) &&
  !(NUMBER_FACTS as readonly string[]).includes(name) &&
  !Object.hasOwn(NAMED_FACTS, name) &&
  name !== 'column' &&
  name !== 'case'

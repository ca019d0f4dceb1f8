/**
 * Describes where a value departs from a zod schema: one path, one expectation and one finding. The page, the server
 * and the command line share it.
 */
import type * as z from 'zod/mini'
import { elementAt } from '#lib/util/element-at.ts'
import { beginningOf } from '#lib/util/text/excerpt.ts'

/** A departure from a schema. */
export interface Violation {
  /** Path of the value, for example `segments[2].logprobs[17]`; '' for the whole value. */
  readonly path: string
  readonly expected: string
  readonly found: string
}

/** Returns the most informative violation of a zod error. `input` is the value that was parsed. */
export function schemaViolation(error: z.core.$ZodError, input: unknown): Violation {
  const issue = deepest(error.issues)
  const value = issue.code === 'invalid_key' ? issue.path.at(-1) : valueAt(input, issue.path)
  return { path: fieldPathText(issue.path), expected: expectation(issue), found: describeValue(value) }
}

/** Writes a violation as the end of a sentence: `path: expected …, found …`. */
export const violationText = ({ path, expected, found }: Violation): string =>
  `${path === '' ? '' : `${path}: `}expected ${expected}, found ${found}`

type Issue = z.core.$ZodIssue

/**
 * Returns the most informative issue. For a union, it is that of a branch that only has keys too many, because all others fit. Otherwise it is
 * that of the branch that failed deepest in the value. Of several such branches, it is the one that knows the most keys of the value, and then
 * the one with the fewest issues. A zod error has at least one issue.
 */
function deepest(issues: readonly Issue[]): Issue {
  const first = elementAt(issues, 0)
  if (first.code !== 'invalid_union') return first
  const surplus = first.errors
    .filter((branch) => branch.every(({ code, path }) => code === 'unrecognized_keys' && path.length === 0))
    .map((branch) => branch[0])
    .find((issue) => issue !== undefined)
  if (surplus) return { ...surplus, path: [...first.path, ...surplus.path] }
  const [best = first] = first.errors
    .filter((branch) => branch.length > 0)
    .map((branch) => ({ issue: deepest(branch), surplus: surplusKeys(branch), count: branch.length }))
    .filter(({ issue }) => issue.path.length > 0)
    .sort((a, b) => b.issue.path.length - a.issue.path.length || a.surplus - b.surplus || a.count - b.count)
    .map(({ issue }) => issue)
  return best === first ? first : { ...best, path: [...first.path, ...best.path] }
}

/** Returns the number of keys that a branch of a union does not know. */
const surplusKeys = (branch: readonly Issue[]): number =>
  branch.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 0), 0)

/** Returns what a schema expects at an issue. */
export function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'int'
        ? 'a whole number'
        : `${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`
    case 'invalid_value':
      return issue.values.map((value) => JSON.stringify(value)).join(' or ')
    case 'too_small':
      return `${issue.origin === 'string' ? 'a text of at least' : 'at least'} ${issue.minimum}${issue.origin === 'string' ? ' characters' : ''}`
    case 'too_big':
      return `${issue.origin === 'string' ? 'a text of at most' : 'at most'} ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`
    case 'invalid_union':
      return issue.discriminator ? `a known ${issue.discriminator}` : branchTypes(issue.errors)
    case 'invalid_key':
      return `a key that is ${expectation(deepest(issue.issues))}`
    case 'unrecognized_keys':
      return `no key ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`
    default:
      return issue.message.replace(/^Invalid (input|string): /, '')
  }
}

/** Returns the types of a union's branches if the value has none of them. */
function branchTypes(branches: readonly (readonly Issue[])[]): string {
  const types = branches.flatMap(([first]) => (first?.code === 'invalid_type' ? [expectation(first)] : []))
  return [...new Set(types)].join(' or ') || 'a different kind of value'
}

/** Writes a path such as `segments[2].logprobs[17]`. */
export function fieldPathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    const name = String(key)
    if (!/^[\w$-]+$/.test(name)) return `${text}[${JSON.stringify(name)}]`
    return text === '' ? name : `${text}.${name}`
  }, '')
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    input,
  )
}

const SHOWN = 80

/** Writes a value briefly for an error message. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null)
    return `an object with ${Object.keys(value).slice(0, 6).join(', ') || 'no keys'}`
  // JSON has no notation for NaN and Infinity.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value)
  const { length } = typeof value === 'string' ? value : text
  return text.length > SHOWN ? `${beginningOf(text, SHOWN)}… (${length} characters)` : text
}

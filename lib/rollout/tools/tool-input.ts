/**
 * Checks the arguments of a call against the tool's schema. The report depends only on the schema and the arguments, because
 * the model reads it and it becomes training data.
 */
import { createContext, Script } from 'node:vm'
import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import { isTimeout, runLimited } from '#lib/time-limit/run-limited.ts'
import { type CheckedSchema, checkToolSchema, pointerKeys } from '#lib/tools/tool-schema.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { describeValue, fieldPathText, type Violation, violationText } from '#lib/util/schema-violation.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'

/** Returns why the arguments do not match the schema, for the model; undefined if they match. */
export type InputCheck = (input: Readonly<Record<string, unknown>>) => string | undefined

/** The time limit of a check in milliseconds: a schema from a foreign file may have a pattern or references that never finish. */
const LONGEST_CHECK_MS = 500

/** Creates the check of a tool's schema. A broken schema makes every check fail with the reason. */
export function createInputCheck(inputSchema: unknown): InputCheck {
  const known = typeof inputSchema === 'object' && inputSchema !== null ? prepared(inputSchema) : prepare(inputSchema)
  if (!known.ok) return () => `the tool's schema is broken (${violationText(known.violation)})`
  let isUsable = true
  return (input) => {
    const errors = isUsable ? known.violations(input) : undefined
    if (errors === undefined) {
      // The check is not repeated in this run, because each attempt would block the whole application.
      isUsable = false
      return 'they cannot be checked, because checking the schema of the tool takes too long'
    }
    const violation = errors.length > 0 ? violationOf(errors, known.schema, input) : undefined
    return violation && violationText(violation)
  }
}

type Prepared =
  | { readonly ok: false; readonly violation: Violation }
  | {
      readonly ok: true
      readonly schema: CheckedSchema
      /** Returns undefined if it takes too long. */
      readonly violations: (input: unknown) => readonly OutputUnit[] | undefined
    }

function prepare(inputSchema: unknown): Prepared {
  const checked = checkToolSchema(inputSchema)
  if (!checked.ok) return checked
  const { schema } = checked
  let validator: Validator | undefined
  const violations = (input: unknown): readonly OutputUnit[] => {
    // The validator writes to the objects of the schema.
    validator ??= new Validator(structuredClone(schema) as Schema | boolean, '2020-12')
    return validator.validate(input).errors
  }
  return {
    ok: true,
    schema,
    // The time limit costs more than everything else in a check.
    violations: isQuick(schema) ? violations : (input) => timeLimited(() => violations(input)),
  }
}

/** Cached by identity, because tools of the application are the same objects in every run. */
const prepared = memoizeByIdentity((inputSchema: object) => prepare(inputSchema))

/** Keywords that read each part of the arguments once, together with their own value. */
const QUICK: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', 'required', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
])
const DEEPEST_QUICK = 8

/**
 * Returns whether the check of a schema is fast for any arguments: it has no patterns, no references and no comparison of all
 * items.
 */
function isQuick(schema: unknown, levels = DEEPEST_QUICK): boolean {
  if (typeof schema === 'boolean') return true
  if (levels === 0 || typeof schema !== 'object' || schema === null) return false
  return Object.entries(schema).every(([keyword, value]) => {
    if (keyword === 'items' || keyword === 'additionalProperties') return isQuick(value, levels - 1)
    if (keyword === 'properties') return Object.values(value).every((one) => isQuick(one, levels - 1))
    return QUICK.has(keyword)
  })
}

/** One context for all checks, because creating one costs ten times as much as a check. */
const CLOCKED = createContext({ action: undefined })
const ACT = new Script('action()')

/** Returns the result of an action, or undefined if it takes too long or nests too deep. A pattern is interrupted too. */
function timeLimited<T>(action: () => T): T | undefined {
  CLOCKED.action = action
  try {
    return runLimited(ACT, CLOCKED, LONGEST_CHECK_MS) as T
  } catch (error) {
    if (error instanceof RangeError || isTimeout(error)) return undefined
    throw error
  }
}

/** Returns the first violation. If all alternatives failed, it is the violation of the one that matched furthest. */
function violationOf(errors: readonly OutputUnit[], schema: CheckedSchema, input: unknown): Violation {
  const leaves = errors.filter(({ keyword }) => !HOLDERS.has(keyword))
  const [first = elementAt(errors, 0)] = leaves
  const choice = CHOICES.has(first.keyword) ? first : undefined
  const inside = choice
    ? leaves.filter(
        (error) => error.keywordLocation.startsWith(`${choice.keywordLocation}/`) && !CHOICES.has(error.keyword),
      )
    : []
  const furthest = inside.reduce((a, b) => (depth(b) > depth(a) ? b : a), first)
  return violationOfError(depth(furthest) > depth(first) ? furthest : first, schema, input)
}

const depth = ({ instanceLocation }: OutputUnit): number => instanceLocation.split('/').length

/** Keywords whose error only reports that an inner one has failed. */
const HOLDERS = new Set([
  '$ref',
  'allOf',
  'if',
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'dependentSchemas',
  'prefixItems',
  'items',
  'additionalItems',
  'unevaluatedItems',
])
const CHOICES = new Set(['anyOf', 'oneOf'])

function violationOfError(error: OutputUnit, schema: CheckedSchema, input: unknown): Violation {
  const keys = pointerKeys(error.instanceLocation)
  const value = valueAt(input, keys)
  const at = (rest: readonly string[] = []) => fieldPathText(indexedPath(input, [...keys, ...rest]))
  const rule = ruleAt(schema, pointerKeys(error.keywordLocation))
  if (error.keywordLocation.includes('/propertyNames'))
    return { path: at(), expected: 'another property name', found: JSON.stringify(keys.at(-1)) }
  if (error.keyword === 'required') {
    const name = (rule as readonly string[]).find((key) => valueAt(value, [key]) === undefined) as string
    return { path: at([name]), expected: 'a value, it is required', found: 'nothing' }
  }
  return { path: at(), expected: expectation(error.keyword, rule), found: describeValue(value) }
}

function expectation(keyword: string, rule: unknown): string {
  switch (keyword) {
    case 'type':
      return Array.isArray(rule) ? rule.map(typeName).join(' or ') : typeName(rule)
    case 'enum':
      return `one of ${clipRule((rule as readonly unknown[]).map((value) => JSON.stringify(value)).join(', '))}`
    case 'const':
      return clipRule(JSON.stringify(rule))
    case 'false':
      return 'no such property'
    case 'minLength':
      return `a string of at least ${countOf(rule, 'character')}`
    case 'maxLength':
      return `a string of at most ${countOf(rule, 'character')}`
    case 'pattern':
      return `a string that matches ${clipRule(String(rule))}`
    case 'format':
      return `a string in the format ${clipRule(String(rule))}`
    case 'minimum':
      return `at least ${rule}`
    case 'maximum':
      return `at most ${rule}`
    case 'exclusiveMinimum':
      return `more than ${rule}`
    case 'exclusiveMaximum':
      return `less than ${rule}`
    case 'multipleOf':
      return `a multiple of ${rule}`
    case 'minItems':
      return `at least ${countOf(rule, 'item')}`
    case 'maxItems':
      return `at most ${countOf(rule, 'item')}`
    case 'uniqueItems':
      return 'no item twice'
    case 'minProperties':
      return `at least ${countOf(rule, 'property')}`
    case 'maxProperties':
      return `at most ${countOf(rule, 'property')}`
    case 'anyOf':
      return 'a value that matches one of the alternatives of the schema'
    case 'oneOf':
      return 'a value that matches exactly one of the alternatives of the schema'
    default:
      return `a value that "${keyword}" of the schema allows`
  }
}

const typeName = (type: unknown): string =>
  type === 'null' ? 'null' : `${/^[aio]/.test(`${type}`) ? 'an' : 'a'} ${type}`

const PLURALS: Readonly<Record<string, string>> = { property: 'properties', item: 'items', character: 'characters' }
const countOf = (count: unknown, noun: string): string => `${count} ${count === 1 ? noun : PLURALS[noun]}`

const LONGEST_RULE = 200
const clipRule = (text: string): string => excerpt(text, LONGEST_RULE)

/** Returns the value of a keyword at a location such as `#/properties/a/$ref/type`; a $ref is followed. */
function ruleAt(schema: CheckedSchema, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((value, key) => {
    const found = valueAt(value, [key])
    return key === '$ref' && typeof found === 'string' ? valueAt(schema, pointerKeys(found)) : found
  }, schema)
}

const valueAt = (value: unknown, keys: readonly string[]): unknown =>
  keys.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Readonly<Record<string, unknown>>)[key]
        : undefined,
    value,
  )

/** Returns keys in the form of fieldPathText: indices of arrays are numbers. */
const indexedPath = (value: unknown, keys: readonly string[]): (string | number)[] =>
  keys.map((key, i) => (Array.isArray(valueAt(value, keys.slice(0, i))) ? Number(key) : key))

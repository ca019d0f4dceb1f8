/** All tests of jinja2 3.1.6 by name. */
import { bindArguments, parseSignature, positionalArguments } from '../python/arguments.ts'
import { compareValues, contains, equals, type OrderSign } from '../python/comparison.ts'
import { iteratorOf } from '../python/iteration.ts'
import { Markup, stringOf } from '../python/markup.ts'
import { numeric } from '../python/numbers.ts'
import { Bytes, Range } from '../python/objects.ts'
import { modulo } from '../python/operators.ts'
import { isLowerText, isUpperText } from '../python/text/code-points.ts'
import { str } from '../python/text/repr.ts'
import {
  type Arguments,
  PyDict,
  PyFloat,
  PyObject,
  PyTuple,
  type Runtime,
  Undefined,
  type Value,
} from '../python/values.ts'
import { filters } from './filters.ts'

/** A Jinja test (`value is name(…)`): returns whether `value` passes. Throws PyError. */
export type Test = (value: Value, call: Arguments, runtime: Runtime) => boolean

/** Makes a test of a function written in Python, from its signature such as `test_divisibleby(value, num)`. */
function test(text: string, run: (value: Value, argument: Value, runtime: Runtime) => boolean): Test {
  const parameters = parseSignature(text)
  return (value, call, runtime) => {
    const [first = null, second = null] = bindArguments(parameters, {
      positional: [value, ...call.positional],
      named: call.named,
    })
    return run(first, second, runtime)
  }
}

const ofValue = (name: string, run: (value: Value, runtime: Runtime) => boolean): readonly [string, Test] => [
  name,
  test(`test_${name}(value)`, (value, _, runtime) => run(value, runtime)),
]

/** Makes a test of a function of the module operator. */
const operator =
  (name: string, run: (a: Value, b: Value, runtime: Runtime) => boolean): Test =>
  (value, call, runtime) => {
    const [a = null, b = null] = positionalArguments(`_operator.${name}`, 2, 2, {
      positional: [value, ...call.positional],
      named: call.named,
    })
    return run(a, b, runtime)
  }

const comparison = (name: string, sign: OrderSign): Test =>
  operator(name, (a, b, runtime) => compareValues(sign, a, b, runtime))

const EQ = operator('eq', equals)
const NE = operator('ne', (a, b, runtime) => !equals(a, b, runtime))
const GT = comparison('gt', '>')
const GE = comparison('ge', '>=')
const LT = comparison('lt', '<')
const LE = comparison('le', '<=')

/** Makes a condition on the value as text. */
const ofText =
  (holds: (text: string) => boolean) =>
  (value: Value, runtime: Runtime): boolean => {
    const text = str(value, runtime)
    runtime.step(1 + text.length / 16)
    return holds(text)
  }

/** Whether a value has len() and an item for an index or key. */
const isSequence = (value: Value): boolean =>
  stringOf(value) !== undefined ||
  Array.isArray(value) ||
  value instanceof PyTuple ||
  value instanceof PyDict ||
  value instanceof Undefined ||
  value instanceof Range ||
  value instanceof Bytes

/** Whether two values are one object. CPython keeps one object of small values and of equal literals in a template. */
const isSame = (a: Value, b: Value): boolean => a === b

/** Tests by their names in templates. */
export const tests: ReadonlyMap<string, Test> = new Map<string, Test>([
  ofValue('odd', (value, runtime) => equals(modulo(value, 2, runtime), 1, runtime)),
  ofValue('even', (value, runtime) => equals(modulo(value, 2, runtime), 0, runtime)),
  [
    'divisibleby',
    test('test_divisibleby(value, num)', (value, by, runtime) => equals(modulo(value, by, runtime), 0, runtime)),
  ],
  ofValue('defined', (value) => !(value instanceof Undefined)),
  ofValue('undefined', (value) => value instanceof Undefined),
  ['filter', test('test_filter([env], value)', (value) => hasName(filters, value))],
  ['test', test('test_test([env], value)', (value) => hasName(tests, value))],
  ofValue('none', (value) => value === null),
  ofValue('boolean', (value) => typeof value === 'boolean'),
  ofValue('false', (value) => value === false),
  ofValue('true', (value) => value === true),
  ofValue('integer', (value) => typeof value === 'number' || typeof value === 'bigint'),
  ofValue('float', (value) => value instanceof PyFloat),
  ofValue('lower', ofText(isLowerText)),
  ofValue('upper', ofText(isUpperText)),
  ofValue('string', (value) => stringOf(value) !== undefined),
  ofValue('mapping', (value) => value instanceof PyDict),
  ofValue('number', (value) => numeric(value) !== undefined),
  ofValue('sequence', isSequence),
  ofValue('iterable', (value, runtime) => iteratorOf(value, runtime) !== undefined),
  [
    'callable',
    (value, call) => {
      positionalArguments('callable', 1, 1, { positional: [value, ...call.positional], named: call.named })
      return value instanceof Undefined || (value instanceof PyObject && value.call !== undefined)
    },
  ],
  ['sameas', test('test_sameas(value, other)', isSame)],
  ofValue('escaped', (value) => value instanceof Markup),
  ['in', test('test_in(value, seq)', contains)],
  ...(['==', 'eq', 'equalto'] as const).map((name) => [name, EQ] as const),
  ...(['!=', 'ne'] as const).map((name) => [name, NE] as const),
  ...(['>', 'gt', 'greaterthan'] as const).map((name) => [name, GT] as const),
  ...(['>=', 'ge'] as const).map((name) => [name, GE] as const),
  ...(['<', 'lt', 'lessthan'] as const).map((name) => [name, LT] as const),
  ...(['<=', 'le'] as const).map((name) => [name, LE] as const),
])

function hasName(table: ReadonlyMap<string, unknown>, name: Value): boolean {
  const text = stringOf(name)
  // Python looks the value up in a dict, which raises if it cannot be a key.
  if (text === undefined) return new PyDict().has(name)
  return table.has(text)
}

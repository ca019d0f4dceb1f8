/** Reads `value.name`, `value[key]` and `value[start:stop:step]` as jinja2's immutable sandbox does. */
import { refuseNamed } from './arguments.ts'
import { Markup, stringOf } from './markup.ts'
import { markupMethods } from './markup-methods.ts'
import { Builtin, Bytes, DictView, PyGenerator, Range } from './objects.ts'
import { strMethods } from './str-methods.ts'
import { item, itemOf } from './subscript.ts'
import { quoteText } from './text/code-points.ts'
import { type Fields, format } from './text/format.ts'
import { objectTypeRepr, repr, typeName } from './text/repr.ts'
import {
  bytesMethods,
  dictMethods,
  floatAttributes,
  intAttributes,
  listMethods,
  type Method,
  rangeMethods,
  tupleMethods,
  viewMethods,
} from './value-methods.ts'
import {
  type Arguments,
  PyDict,
  PyError,
  PyFloat,
  PyObject,
  PyTuple,
  type Runtime,
  Undefined,
  type Value,
} from './values.ts'

export { slice } from './subscript.ts'

/** Returns the attribute, else the item; Undefined if there is neither or if the sandbox refuses access. */
export function getAttribute(value: Value, name: string, runtime: Runtime): Value {
  if (value instanceof PyDict && !isPrivate(name)) {
    const method = dictMethods.get(name)
    if (method === undefined) return orUndefined(value.get(name), value, name)
  }
  const attribute = attributeOf(value, name, runtime)
  return attribute === undefined ? orUndefined(itemOf(value, name, runtime), value, name) : attribute
}

/** Returns the item, else (for a str key) the attribute; Undefined if there is neither. */
export function getItem(value: Value, key: Value, runtime: Runtime): Value {
  const found = itemOf(value, key, runtime)
  if (found !== undefined) return found
  const name = stringOf(key)
  if (name !== undefined) return orUndefined(attributeOf(value, name, runtime), value, name)
  return new Undefined(`${objectTypeRepr(value)} has no element ${repr(key, runtime)}`)
}

/** Returns the value that was found, which may be None, or an Undefined for the missing attribute. */
const orUndefined = (found: Value | undefined, value: Value, name: string): Value =>
  found === undefined ? new Undefined(`${quoteText(objectTypeRepr(value))} has no attribute ${quoteText(name)}`) : found

/** Returns the error of Python for a missing attribute that Python itself reads. */
export function noAttribute(value: Value, name: string): PyError {
  if (value instanceof Undefined) return new PyError(value.className, value.message)
  return new PyError('AttributeError', `'${typeName(value)}' object has no attribute '${name}'`)
}

/**
 * Returns the attribute and never the item: undefined if there is none, an Undefined that raises SecurityError if the sandbox refuses
 * access.
 */
export function attributeOf(value: Value, name: string, runtime: Runtime): Value | undefined {
  if (isPrivate(name)) return hasPrivate(value, name, runtime) ? closedAttribute(value, name) : undefined
  if (value instanceof Undefined) throw new PyError(value.className, value.message)
  const text = stringOf(value)
  if (text !== undefined) return textAttribute(value, text, name, runtime)
  if (Array.isArray(value))
    return CHANGES_LIST.has(name) ? closedAttribute(value, name) : boundMethod(listMethods, value, name)
  if (value instanceof PyDict) {
    return CHANGES_DICT.has(name) ? closedAttribute(value, name) : boundMethod(dictMethods, value, name)
  }
  if (value instanceof PyTuple) {
    const named = value.attribute?.(name)
    return named === undefined ? boundMethod(tupleMethods, value, name) : named
  }
  if (value instanceof PyFloat) return floatAttributes(value, name)
  if (value instanceof Range) return value.attribute(name) ?? boundMethod(rangeMethods, value, name)
  if (value instanceof DictView) {
    return value.attribute(name) ?? (value.part === 'values' ? undefined : boundMethod(viewMethods, value, name))
  }
  if (value instanceof Bytes) return boundMethod(bytesMethods, value, name)
  if (value instanceof PyGenerator && GENERATOR_FRAMES.has(name)) return closedAttribute(value, name)
  if (value instanceof PyObject) return value.attribute?.(name, runtime)
  return value === null ? undefined : intAttributes(value, name)
}

const CHANGES_LIST = new Set(['append', 'clear', 'pop', 'reverse', 'insert', 'sort', 'extend', 'remove'])
const GENERATOR_FRAMES = new Set(['gi_frame', 'gi_code'])
const CHANGES_DICT = new Set(['clear', 'pop', 'popitem', 'setdefault', 'update'])

const closedAttribute = (value: Value, name: string): Undefined =>
  new Undefined(`access to attribute ${quoteText(name)} of '${typeName(value)}' object is unsafe.`, 'SecurityError')

const isPrivate = (name: string): boolean => name.charCodeAt(0) === 0x5f

/** Whether the type of the value has this private name, so that access is refused. Other names may be keys of a dict. */
function hasPrivate(value: Value, name: string, runtime: Runtime): boolean {
  const inner = /^__(\w+)__$/.exec(name)?.[1]
  if (value instanceof PyObject && value.attribute?.(name, runtime) !== undefined) return true
  if (inner === undefined) return value instanceof Undefined && UNDEFINED_SLOTS.has(name)
  return EVERY_OBJECT.has(inner) || (SPECIAL[typeName(value)] ?? '').split(' ').includes(inner)
}

const UNDEFINED_SLOTS = new Set(
  ['exception', 'hint', 'message', 'name', 'obj']
    .map((part) => `_undefined_${part}`)
    .concat('_fail_with_undefined_error'),
)
const EVERY_OBJECT = new Set(
  'ne lt reduce new subclasshook setattr doc reduce_ex getattribute init_subclass sizeof le getstate eq delattr class hash init gt format ge repr str dir'.split(
    ' ',
  ),
)
const ARITHMETIC =
  'abs add bool divmod float floor floordiv ceil getnewargs int mod mul neg pos pow radd rdivmod rfloordiv rmod rmul round rpow rsub rtruediv sub truediv trunc'
const WHOLE = `${ARITHMETIC} and index invert lshift or rand rlshift ror rrshift rshift rxor xor`
/** Names between double underscores that dir(type) lists in CPython 3.11, in addition to those of every object. */
const SPECIAL: Readonly<Record<string, string>> = {
  str: 'add contains getitem getnewargs iter len mod mul rmod rmul',
  Markup: 'add contains getitem getnewargs iter len mod mul rmod rmul html html_format radd module slots',
  int: WHOLE,
  bool: WHOLE,
  float: `${ARITHMETIC} getformat`,
  list: 'add class_getitem contains delitem getitem iadd imul iter len mul reversed rmul setitem',
  tuple: 'add class_getitem contains getitem getnewargs iter len mul rmul',
  dict: 'class_getitem contains delitem getitem ior iter len or reversed ror setitem',
  NoneType: 'bool',
  range: 'bool contains getitem iter len reversed',
  bytes: 'add bytes contains getitem getnewargs iter len mod mul rmod rmul',
  builtin_function_or_method: 'call module name qualname self text_signature',
  function: 'annotations builtins call closure code defaults dict get globals kwdefaults module name qualname',
  generator: 'del iter name next qualname',
  Undefined:
    'add aiter bool call complex div float floordiv getattr getitem int iter len mod module mul neg pos pow radd rdiv rfloordiv rmod rmul rpow rsub rtruediv slots sub truediv',
}

function textAttribute(value: Value, text: string, name: string, runtime: Runtime): Value | undefined {
  if (name === 'format' || name === 'format_map') return sandboxedFormat(value, text, name, runtime)
  const method = value instanceof Markup ? markupMethods.get(name) : strMethods.get(name)
  if (method === undefined) return undefined
  return new Builtin(methodRepr(value, name), (call, inner) => method(text, call, inner))
}

function boundMethod<T extends Value>(
  methods: ReadonlyMap<string, Method<T>>,
  self: T,
  name: string,
): Builtin | undefined {
  const method = methods.get(name)
  return method && new Builtin(methodRepr(self, name), (call, runtime) => method(self, call, runtime))
}

/** Returns the repr of a bound method, with 0x0 for the address, which differs each time in Python. */
const methodRepr = (self: Value, name: string): string => `<built-in method ${name} of ${typeName(self)} object at 0x0>`

/** Returns str.format or format_map with fields that read no more than the template may. */
function sandboxedFormat(self: Value, text: string, name: 'format' | 'format_map', runtime: Runtime): Builtin {
  const markup = self instanceof Markup
  const fields = (call: Arguments, inner: Runtime): Fields => ({
    positional: name === 'format' ? call.positional : [],
    named: name === 'format' ? (key) => namedArgument(call, key, inner) : mappingOf(call, inner),
    attribute: (value, attribute) => getAttribute(value, attribute, inner),
    item: (value, key) => getItem(value, key, inner),
    markup,
  })
  runtime.step()
  return new Builtin(
    methodRepr(self, name),
    (call, inner) => {
      const result = format(text, fields(call, inner), inner)
      return markup ? new Markup(result) : result
    },
    'function',
  )
}

function namedArgument(call: Arguments, key: string, runtime: Runtime): Value {
  const value = call.named.get(key)
  if (value === undefined) throw new PyError('KeyError', repr(key, runtime))
  return value
}

function mappingOf(call: Arguments, runtime: Runtime): (key: string) => Value {
  refuseNamed('format_map', call)
  const [mapping] = call.positional
  if (mapping === undefined || call.positional.length > 1) {
    throw new PyError('TypeError', `format_map() takes exactly one argument (${call.positional.length} given)`)
  }
  return (key) => item(mapping, key, runtime)
}

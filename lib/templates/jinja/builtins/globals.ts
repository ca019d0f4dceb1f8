/** Globals of every chat template: those of jinja2 and those that transformers adds. */
import { bindArguments, indexOf, parseSignature, refuseNamed } from '../python/arguments.ts'
import { truth } from '../python/comparison.ts'
import { items, iteratorOf, toList } from '../python/iteration.ts'
import { escapedHtml, Markup, stringOf } from '../python/markup.ts'
import { clampInt } from '../python/numbers.ts'
import { Builtin, Range } from '../python/objects.ts'
import { repr, str, typeName } from '../python/text/repr.ts'
import { strftime } from '../python/text/strftime.ts'
import { dictOfKeys } from '../python/value-methods.ts'
import {
  type Arguments,
  PyDict,
  PyError,
  PyObject,
  PyTuple,
  type Runtime,
  Undefined,
  type Value,
} from '../python/values.ts'

/** Makes a function whose repr is that of a function written in Python. */
const pythonFunction = (name: string, run: (call: Arguments, runtime: Runtime) => Value): Builtin =>
  new Builtin(`<function ${name} at 0x0>`, run, 'function')

const pythonClass = (name: string, run: (call: Arguments, runtime: Runtime) => Value): Builtin =>
  new Builtin(`<class '${name}'>`, run, 'type')

/** Qualified name of the function in which transformers defines these names while it compiles a template. */
const COMPILER = '_cached_compile_jinja_template.<locals>.'

/** Longest range that the sandbox of jinja2 allows. */
const MAX_RANGE = 100_000

function safeRange(call: Arguments): Value {
  refuseUnexpected('safe_range', call)
  const count = call.positional.length
  if (count === 0 || count > 3) {
    const wanted = count === 0 ? 'at least 1 argument' : 'at most 3 arguments'
    throw new PyError('TypeError', `range expected ${wanted}, got ${count}`)
  }
  const [first = 0, second, step = 1] = call.positional.map(indexOf)
  if (step === 0) throw new PyError('ValueError', 'range() arg 3 must not be zero')
  const range = second === undefined ? new Range(0, first, 1) : new Range(first, second, step)
  if (range.size > 0x7fffffffffffffffn) {
    throw new PyError('OverflowError', 'Python int too large to convert to C ssize_t')
  }
  if (range.length() > MAX_RANGE) {
    throw new PyError('OverflowError', `Range too big. The sandbox blocks ranges larger than MAX_RANGE (${MAX_RANGE}).`)
  }
  return range
}

function refuseUnexpected(name: string, call: Arguments): void {
  for (const key of call.named.keys()) {
    throw new PyError('TypeError', `${name}() got an unexpected keyword argument '${key}'`)
  }
}

/** Implements `dict(…)`. */
function dictOf(call: Arguments, runtime: Runtime): PyDict {
  const [source, ...others] = call.positional
  if (others.length > 0) {
    throw new PyError('TypeError', `dict expected at most 1 argument, got ${call.positional.length}`)
  }
  // Python reads the keys of the argument, which raises if it is undefined.
  if (source instanceof Undefined) throw new PyError(source.className, source.message)
  const dict = new PyDict()
  if (source instanceof PyDict) for (const [key, value] of source.entries()) dict.set(key, value)
  else if (source !== undefined) addPairs(dict, source, runtime)
  for (const [key, value] of call.named) dict.set(key, value)
  runtime.step(dict.size)
  runtime.allocate(dict.size)
  return dict
}

function addPairs(dict: PyDict, source: Value, runtime: Runtime): void {
  let index = 0
  for (const item of items(source, runtime)) {
    const pair = sequenceAt(item, index, runtime)
    if (pair.length !== 2) {
      throw new PyError(
        'ValueError',
        `dictionary update sequence element #${index} has length ${pair.length}; 2 is required`,
      )
    }
    dict.set(pair[0] ?? null, pair[1] ?? null)
    index += 1
  }
}

function sequenceAt(item: Value, index: number, runtime: Runtime): readonly Value[] {
  if (iteratorOf(item, runtime) !== undefined) return toList(item, runtime)
  throw new PyError('TypeError', `cannot convert dictionary update sequence element #${index} to a sequence`)
}

/** The replacement of dict in transformers: it can be called, and has fromkeys. */
class TemplateDict extends PyObject {
  readonly typeName = 'TemplateDict'
  override readonly module = 'transformers.utils.chat_template_utils'
  repr(): string {
    return `<${this.module}.${COMPILER}TemplateDict object at 0x0>`
  }
  override call(call: Arguments, runtime: Runtime): Value {
    return dictOf(call, runtime)
  }
  override attribute(name: string): Value | undefined {
    if (name !== 'fromkeys') return undefined
    return new Builtin('<bound method TemplateDict.fromkeys>', (call, runtime) => {
      refuseNamed('dict.fromkeys', call)
      const [keys, value = null] = call.positional
      if (keys === undefined) throw new PyError('TypeError', 'fromkeys expected at least 1 argument, got 0')
      return dictOfKeys(keys, value, runtime)
    })
  }
}

/** A namespace, to which `{% set ns.name = value %}` assigns. */
export class Namespace extends PyObject {
  readonly typeName = 'TemplateNamespace'
  override readonly module = 'transformers.utils.chat_template_utils'
  private readonly attributes: PyDict
  /** Whether `repr` runs already: a namespace can be its own attribute. */
  private isShown = false
  constructor(attributes: PyDict) {
    super()
    for (const [name] of attributes.entries()) refusePrivate(name)
    this.attributes = attributes
  }
  repr(runtime: Runtime): string {
    if (this.isShown) return '<Namespace {...}>'
    this.isShown = true
    try {
      return `<Namespace ${repr(this.attributes, runtime)}>`
    } finally {
      this.isShown = false
    }
  }
  override attribute(name: string): Value | undefined {
    return this.attributes.get(name)
  }
  /** Throws PyError (SecurityError) for a name that begins with an underscore. */
  set(name: string, value: Value): void {
    refusePrivate(name)
    this.attributes.set(name, value)
  }
}

function refusePrivate(name: Value): void {
  const text = stringOf(name)
  if (text === undefined || !text.startsWith('_')) return
  throw new PyError(
    'SecurityError',
    `Chat templates cannot store underscore-prefixed attributes on a namespace, but got '${text}'. Please rename the attribute.`,
  )
}

class Cycler extends PyObject {
  readonly typeName = 'Cycler'
  override readonly module = 'jinja2.utils'
  private readonly items: readonly Value[]
  private position = 0
  constructor(items: readonly Value[]) {
    super()
    if (items.length === 0) throw new PyError('RuntimeError', 'at least one item has to be provided')
    this.items = items
  }
  repr(): string {
    return '<jinja2.utils.Cycler object at 0x0>'
  }
  override attribute(name: string): Value | undefined {
    switch (name) {
      case 'items':
        return new PyTuple(this.items)
      case 'pos':
        return this.position
      case 'current':
        return this.items[this.position]
      case 'next':
        return new Builtin('<bound method Cycler.next>', () => this.next(), 'method')
      case 'reset':
        return new Builtin('<bound method Cycler.reset>', () => this.reset(), 'method')
      default:
        return undefined
    }
  }
  private next(): Value {
    const current = this.items[this.position] ?? null
    this.position = (this.position + 1) % this.items.length
    return current
  }
  private reset(): Value {
    this.position = 0
    return null
  }
}

/** A call returns the separator, but '' the first time. */
class Joiner extends PyObject {
  readonly typeName = 'Joiner'
  override readonly module = 'jinja2.utils'
  private readonly separator: Value
  private used = false
  constructor(separator: Value) {
    super()
    this.separator = separator
  }
  repr(): string {
    return '<jinja2.utils.Joiner object at 0x0>'
  }
  override attribute(name: string): Value | undefined {
    if (name === 'sep') return this.separator
    return name === 'used' ? this.used : undefined
  }
  override call(): Value {
    if (this.used) return this.separator
    this.used = true
    return ''
  }
}

const JOINER = parseSignature('Joiner.__init__([self], sep=)')
const RAISE = parseSignature(`${COMPILER}raise_exception(message)`)
const NOW = parseSignature(`${COMPILER}strftime_now(format)`)
const LIPSUM = parseSignature('generate_lorem_ipsum(n=, html=, min=, max=)')

const LOREM =
  'lorem ipsum dolor sit amet consectetuer adipiscing elit sed diam nonummy nibh euismod tincidunt ut laoreet magna aliquam erat volutpat'.split(
    ' ',
  )

/** Implements `lipsum`. Python chooses random words; here they are always the same, so that renders can be repeated. */
function lipsum(call: Arguments, runtime: Runtime): Value {
  const [count = 5, html = true, least = 20] = bindArguments(LIPSUM, call)
  const [paragraphs, words] = [clampInt(indexOf(count)), clampInt(indexOf(least))]
  runtime.allocate(Math.max(0, paragraphs) * Math.max(0, words) * 8)
  const paragraph = Array.from({ length: Math.max(0, words) }, (_, index) => LOREM[index % LOREM.length]).join(' ')
  const sentence = `${paragraph.charAt(0).toUpperCase()}${paragraph.slice(1)}.`
  const all = Array.from({ length: Math.max(0, paragraphs) }, () => sentence)
  if (!truth(html)) return all.join('\n\n')
  return new Markup(all.map((text) => `<p>${escapedHtml(text)}</p>`).join('\n'))
}

/** Globals by name, such as `range`, `namespace` and `raise_exception`. */
export const globals: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['range', pythonFunction('safe_range', safeRange)],
  ['dict', new TemplateDict()],
  ['lipsum', pythonFunction('generate_lorem_ipsum', lipsum)],
  [
    'cycler',
    pythonClass('jinja2.utils.Cycler', (call) => {
      refuseUnexpected('Cycler.__init__', call)
      return new Cycler(call.positional)
    }),
  ],
  [
    'joiner',
    pythonClass('jinja2.utils.Joiner', (call) => {
      const [separator = ', '] = bindArguments(JOINER, call)
      return new Joiner(separator)
    }),
  ],
  [
    'namespace',
    pythonClass(
      `transformers.utils.chat_template_utils.${COMPILER}TemplateNamespace`,
      (call, runtime) => new Namespace(dictOf(call, runtime)),
    ),
  ],
  [
    'raise_exception',
    pythonFunction(`${COMPILER}raise_exception`, (call, runtime) => {
      const [message = null] = bindArguments(RAISE, call)
      throw new PyError('TemplateError', message === null ? 'None' : str(message, runtime))
    }),
  ],
  [
    'strftime_now',
    pythonFunction(`${COMPILER}strftime_now`, (call, runtime) => {
      const [format = null] = bindArguments(NOW, call)
      const text = stringOf(format)
      if (text === undefined) {
        throw new PyError('TypeError', `strftime() argument 1 must be str, not ${typeName(format)}`)
      }
      // A directive cannot be longer than the most that the whole format may produce.
      const widths = text.match(/\d+/g) ?? []
      for (const width of widths) runtime.allocate(Math.min(Number(width), 256 * text.length))
      const result = strftime(runtime.clock(), text)
      runtime.allocate(result.length)
      return result
    }),
  ],
])

/** Filters that make text. */
import { indexOf, sizeArgument } from '../python/arguments.ts'
import { noAttribute } from '../python/attributes.ts'
import { compareValues, truth } from '../python/comparison.ts'
import { items, iteratorOf, length, toList } from '../python/iteration.ts'
import { toJson } from '../python/json.ts'
import { escapedHtml, Markup, stringOf } from '../python/markup.ts'
import { escapeValue, markupMethods } from '../python/markup-methods.ts'
import { clampInt, integer } from '../python/numbers.ts'
import { add, modulo, multiply, str } from '../python/operators.ts'
import { joinedText, strMethods } from '../python/str-methods.ts'
import { slice } from '../python/subscript.ts'
import { SPACES, splitLines } from '../python/text/code-points.ts'
import { pretty } from '../python/text/pretty.ts'
import { repr, typeName } from '../python/text/repr.ts'
import { replaceText, splitFromEnd } from '../python/text/text-search.ts'
import { type Arguments, PyDict, PyError, PyTuple, type Runtime, Undefined, type Value } from '../python/values.ts'
import { type Filter, filter, type NamedFilter } from './filter.ts'
import { strippedOfTags, withLinks } from './html.ts'
import { itemPath } from './item-path.ts'
import { wrapText } from './wrapping.ts'

const NONE: Arguments = { positional: [], named: new Map() }

/** Calls a method of str on the value as text, or of Markup on markup. */
function method(name: string, value: Value, positional: readonly Value[], runtime: Runtime): Value {
  const methods = value instanceof Markup ? markupMethods : strMethods
  const run = methods.get(name)
  if (!run) throw new Error(`str has no method ${name}`)
  return run(value instanceof Markup ? value.html : str(value, runtime), { ...NONE, positional }, runtime)
}

const asMethod = (name: string): Filter =>
  filter(`do_${name}(s)`, ([value = null], runtime) => method(name, value, [], runtime))

const WORD_START = new RegExp(`([-${SPACES}({[<]+)`)

/** Capitalizes each word; words begin after space, hyphens and opening brackets. */
function titleOf(text: string): string {
  return text
    .split(WORD_START)
    .map((word) => {
      const [first = ''] = word
      return first.toUpperCase() + word.slice(first.length).toLowerCase()
    })
    .join('')
}

function formatText(value: Value, call: Arguments, runtime: Runtime): Value {
  if (call.positional.length > 0 && call.named.size > 0) {
    throw new PyError('FilterArgumentError', "can't handle positional and keyword arguments at the same time")
  }
  const text = value instanceof Markup ? value : str(value, runtime)
  return modulo(text, call.named.size > 0 ? PyDict.of(call.named) : new PyTuple(call.positional), runtime)
}

function indentText(
  [value = null, width = 4, first = false, blank = false]: readonly (Value | undefined)[],
  runtime: Runtime,
): Value {
  const indention = stringOf(width) ?? str(multiply(' ', width, runtime), runtime)
  const text = stringOf(value)
  if (text === undefined) throw notIndentable(value)
  const lines = splitLines(`${text}\n`, false)
  runtime.step(lines.length)
  runtime.allocate(text.length + lines.length * (indention.length + 1))
  const put = (line: string, index: number): string =>
    index > 0 && (truth(blank) || line !== '') ? indention + line : line
  const result = (truth(first) ? indention : '') + lines.map(put).join('\n')
  return value instanceof Markup ? new Markup(result) : result
}

/** Returns the error for a value that is not text: Python adds a newline to the value in place, then calls splitlines. */
function notIndentable(value: Value): PyError {
  if (value instanceof Undefined) return new PyError(value.className, value.message)
  if (Array.isArray(value)) return noAttribute(value, 'splitlines')
  return value instanceof PyTuple
    ? new PyError('TypeError', 'can only concatenate tuple (not "str") to tuple')
    : new PyError('TypeError', `unsupported operand type(s) for +=: '${typeName(value)}' and 'str'`)
}

function truncateText(
  [value = null, longest = 255, killWords = false, end = '...', leeway = null]: readonly (Value | undefined)[],
  runtime: Runtime,
): Value {
  const tail = length(end)
  if (!compareValues('>=', longest, tail, runtime)) {
    throw new PyError('AssertionError', `expected length >= ${tail}, got ${str(longest, runtime)}`)
  }
  const most = indexOf(longest)
  const slack = leeway === null ? 5 : clampInt(integer(leeway) ?? 0)
  if (slack < 0) throw new PyError('AssertionError', `expected leeway >= 0, got ${slack}`)
  if (length(value) <= clampInt(most) + slack) return value
  const cut = slice(value, null, clampInt(most) - tail, null, runtime)
  if (truth(killWords)) return add(cut, end, runtime)
  const text = stringOf(cut)
  if (text === undefined) throw noAttribute(value, 'rsplit')
  const [start = ''] = splitFromEnd(text, ' ', 1)
  return add(value instanceof Markup ? new Markup(start) : start, end, runtime)
}

function wordWrapped(
  [value = null, width = 79, breakLong = true, wrapString = null, hyphens = true]: readonly (Value | undefined)[],
  runtime: Runtime,
): Value {
  const text = stringOf(value)
  if (text === undefined) throw noAttribute(value, 'splitlines')
  const end = wrapString === null ? '\n' : (stringOf(wrapString) ?? '')
  const wrapping = { width: sizeArgument(width), breakLongWords: truth(breakLong), breakOnHyphens: hyphens === true }
  const lines = splitLines(text, false).map((line) => wrapText(line, wrapping, runtime).join(end))
  runtime.allocate(text.length + lines.length * end.length)
  return lines.join(end)
}

/** Returns the text with the UTF-8 bytes that RFC 3986 reserves or does not know as %XX. */
function urlQuoted(value: Value, inQuery: boolean, runtime: Runtime): string {
  const text = str(value, runtime)
  runtime.allocate(text.length * 3)
  const quoted = encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return inQuery ? quoted.replaceAll('%20', '+') : quoted.replaceAll('%2F', '/')
}

function urlEncoded(value: Value, runtime: Runtime): Value {
  const isText = stringOf(value) !== undefined
  if (isText || iteratorOf(value, runtime) === undefined) return urlQuoted(value, false, runtime)
  const pairs =
    value instanceof PyDict ? [...value.entries()] : toList(value, runtime).map((pair) => pairOf(pair, runtime))
  return pairs.map(([key, item]) => `${urlQuoted(key, true, runtime)}=${urlQuoted(item, true, runtime)}`).join('&')
}

/** Unpacks a value as `a, b = value` does. */
function pairOf(value: Value, runtime: Runtime): readonly [Value, Value] {
  if (iteratorOf(value, runtime) === undefined) {
    throw new PyError('TypeError', `cannot unpack non-iterable ${typeName(value)} object`)
  }
  const parts = toList(value, runtime)
  const [first, second] = parts
  if (first === undefined || second === undefined) {
    throw new PyError('ValueError', `not enough values to unpack (expected 2, got ${parts.length})`)
  }
  if (parts.length > 2) throw new PyError('ValueError', 'too many values to unpack (expected 2)')
  return [first, second]
}

function xmlAttributes([value = null, autospace = true]: readonly (Value | undefined)[], runtime: Runtime): Value {
  if (!(value instanceof PyDict)) throw noAttribute(value, 'items')
  const attributes: string[] = []
  for (const [key, item] of value.entries()) {
    runtime.step()
    if (item === null || item instanceof Undefined) continue
    const name = stringOf(key)
    if (name === undefined) {
      throw new PyError('TypeError', `expected string or bytes-like object, got '${typeName(key)}'`)
    }
    if (/[ \t-\r/>=]/.test(name)) {
      throw new PyError('ValueError', `Invalid character in attribute name: ${repr(key, runtime)}`)
    }
    attributes.push(`${escapeValue(key, runtime).html}="${escapeValue(item, runtime).html}"`)
  }
  const text = attributes.join(' ')
  runtime.allocate(text.length)
  return html(truth(autospace) && text !== '' ? ` ${text}` : text, runtime)
}

function linkText(
  [value = null, limit = null, nofollow = false, target = null, rel = null, schemes = null]: readonly (
    | Value
    | undefined
  )[],
  runtime: Runtime,
): Value {
  const rels = new Set((stringOf(rel) ?? '').split(/\s+/).filter((part) => part !== ''))
  if (truth(nofollow)) rels.add('nofollow')
  rels.add('noopener')
  const prefixes = schemes === null ? [] : toList(schemes, runtime)
  for (const scheme of prefixes) {
    if (!/^[\p{L}\p{N}_.+-]{2,}:\/{0,2}$/u.test(stringOf(scheme) ?? '')) {
      throw new PyError('FilterArgumentError', `${repr(scheme, runtime)} is not a valid URI scheme prefix.`)
    }
  }
  const text = value instanceof Markup ? value.html : str(value, runtime)
  runtime.step(1 + text.length / 8)
  runtime.allocate(text.length * 4)
  const links = withLinks(value instanceof Markup ? text : escapedHtml(text), {
    limit: limit === null ? undefined : sizeArgument(limit),
    rel: [...rels].sort().join(' '),
    target: stringOf(target),
    schemes: prefixes.map((scheme) => stringOf(scheme) ?? ''),
  })
  return html(links, runtime)
}

function json(
  [value = null, ensureAscii = false, indent = null, separators = null, sortKeys = false]: readonly (
    | Value
    | undefined
  )[],
  runtime: Runtime,
): Value {
  const options = {
    ensureAscii: truth(ensureAscii),
    indent: indent === null ? undefined : (stringOf(indent) ?? jsonIndent(indent)),
    separators: separators === null ? undefined : jsonSeparators(separators, runtime),
    sortKeys: truth(sortKeys),
  }
  return toJson(value, options, runtime)
}

/** Returns the number of spaces for one level: Python's pure encoder computes `' ' * indent`. */
function jsonIndent(indent: Value): number {
  const spaces = integer(indent)
  if (spaces !== undefined) return clampInt(spaces)
  if (indent instanceof Undefined) throw new PyError(indent.className, indent.message)
  throw new PyError('TypeError', `can't multiply sequence by non-int of type '${typeName(indent)}'`)
}

function jsonSeparators(separators: Value, runtime: Runtime): readonly [string, string] {
  const [item, key] = pairOf(separators, runtime)
  return [str(item, runtime), str(key, runtime)]
}

function joinItems(
  [value = null, separator = '', attribute = null]: readonly (Value | undefined)[],
  runtime: Runtime,
): Value {
  const take = attribute === null ? undefined : itemPath(attribute, runtime)
  const parts: Value[] = []
  for (const item of items(value, runtime)) {
    const part = take ? take(item) : item
    parts.push(part instanceof Markup && runtime.autoescape ? part : str(part, runtime))
  }
  // The other parts are escaped only if one of them is markup.
  const isMarkup = runtime.autoescape && [separator, ...parts].some((part) => part instanceof Markup)
  if (!isMarkup) return joinedText(str(separator, runtime), parts, runtime)
  const html = parts.map((part) => escapeValue(part, runtime))
  return new Markup(joinedText(escapeValue(separator, runtime).html, html, runtime))
}

function replacedIn(
  [value = null, old = '', by = '', count = null]: readonly (Value | undefined)[],
  runtime: Runtime,
): Value {
  const most = count === null ? -1 : sizeArgument(count)
  const oldText = str(old, runtime)
  const isMarkup = runtime.autoescape && [value, old, by].some((part) => part instanceof Markup)
  if (!isMarkup) return replaceText(str(value, runtime), oldText, str(by, runtime), most, runtime)
  return new Markup(
    replaceText(escapeValue(value, runtime).html, oldText, escapeValue(by, runtime).html, most, runtime),
  )
}

/** Returns HTML as Markup if autoescape is on, otherwise as text. */
const html = (text: string, runtime: Runtime): Value => (runtime.autoescape ? new Markup(text) : text)

/** Filters of text by name, such as `trim`, `replace` and `tojson`. */
export const textFilters: readonly NamedFilter[] = [
  ['capitalize', asMethod('capitalize')],
  ['lower', asMethod('lower')],
  ['upper', asMethod('upper')],
  [
    'center',
    filter('do_center(value, width=)', ([value = null, width = 80], runtime) =>
      method('center', value, [width], runtime),
    ),
  ],
  [
    'trim',
    filter('do_trim(value, chars=)', ([value = null, chars = null], runtime) =>
      method('strip', value, [chars], runtime),
    ),
  ],
  ['title', filter('do_title(s)', ([value = null], runtime) => titleOf(str(value, runtime)))],
  [
    'string',
    filter('soft_str(s)', ([value = null], runtime) => (value instanceof Markup ? value : str(value, runtime))),
  ],
  ['escape', filter('escape(s)', ([value = null], runtime) => escapeValue(value, runtime))],
  ['e', filter('escape(s)', ([value = null], runtime) => escapeValue(value, runtime))],
  [
    'forceescape',
    filter('do_forceescape(value)', ([value = null], runtime) => {
      const text = str(value, runtime)
      runtime.allocate(text.length * 2)
      return new Markup(escapedHtml(text))
    }),
  ],
  [
    'safe',
    filter('do_mark_safe(value)', ([value = null], runtime) =>
      value instanceof Markup ? value : new Markup(str(value, runtime)),
    ),
  ],
  ['striptags', filter('do_striptags(value)', ([value = null], runtime) => strippedOfTags(str(value, runtime)))],
  ['format', formatText],
  ['indent', filter('do_indent(s, width=, first=, blank=)', indentText)],
  ['join', filter('sync_do_join([eval_ctx], value, d=, attribute=)', joinItems)],
  ['pprint', filter('do_pprint(value)', ([value = null], runtime) => pretty(value, runtime))],
  ['replace', filter('do_replace([eval_ctx], s, old, new, count=)', replacedIn)],
  [
    'tojson',
    filter('_cached_compile_jinja_template.<locals>.tojson(x, ensure_ascii=, indent=, separators=, sort_keys=)', json),
  ],
  ['truncate', filter('do_truncate([env], s, length=, killwords=, end=, leeway=)', truncateText)],
  ['urlencode', filter('do_urlencode(value)', ([value = null], runtime) => urlEncoded(value, runtime))],
  [
    'urlize',
    filter('do_urlize([eval_ctx], value, trim_url_limit=, nofollow=, target=, rel=, extra_schemes=)', linkText),
  ],
  [
    'wordcount',
    filter('do_wordcount(s)', ([value = null], runtime) => {
      const text = str(value, runtime)
      runtime.step(1 + text.length / 64)
      return text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0
    }),
  ],
  [
    'wordwrap',
    filter('do_wordwrap([environment], s, width=, break_long_words=, wrapstring=, break_on_hyphens=)', wordWrapped),
  ],
  ['xmlattr', filter('do_xmlattr([eval_ctx], d, autospace=)', xmlAttributes)],
]

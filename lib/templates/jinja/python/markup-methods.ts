/** The methods of Markup: those of str, whose results are markup and whose texts are escaped. */

import { strippedOfTags, unescapedHtml } from '../builtins/html.ts'
import { noArguments, oneArgument } from './arguments.ts'
import { toList } from './iteration.ts'
import { escapedHtml, Markup } from './markup.ts'
import { joinedText, type StrMethod, strMethods } from './str-methods.ts'
import { str } from './text/repr.ts'
import { type Arguments, PyTuple, type Runtime, type Value } from './values.ts'

/** Implements escape(value) of markupsafe. */
export const escapeValue = (value: Value, runtime: Runtime): Markup =>
  value instanceof Markup ? value : new Markup(escapedHtml(chargeText(str(value, runtime), runtime)))

function chargeText(text: string, runtime: Runtime): string {
  runtime.allocate(text.length * 2)
  runtime.step(1 + text.length / 256)
  return text
}

const markSafe = (value: Value): Value => {
  if (typeof value === 'string') return new Markup(value)
  if (Array.isArray(value)) return value.map(markSafe)
  return value instanceof PyTuple ? new PyTuple(value.items.map(markSafe)) : value
}

/** Methods whose second argument, the replacement or the fill, is escaped. */
const ESCAPES_SECOND = new Set(['replace', 'ljust', 'rjust', 'center'])

const markedMethod =
  (name: string, method: StrMethod): StrMethod =>
  (self, call, runtime) => {
    const [first, second, ...rest] = call.positional
    const escapes = ESCAPES_SECOND.has(name) && first !== undefined && second !== undefined
    const positional = escapes ? [first, escapeValue(second, runtime), ...rest] : call.positional
    return markSafe(method(self, { ...call, positional }, runtime))
  }

/** Methods of Markup by name. */
export const markupMethods: ReadonlyMap<string, StrMethod> = new Map<string, StrMethod>([
  ...Array.from(strMethods, ([name, method]) => [name, markedMethod(name, method)] as const),
  [
    'join',
    (self: string, call: Arguments, runtime: Runtime): Value => {
      const parts = toList(oneArgument('Markup.join', call), runtime).map((part) => escapeValue(part, runtime))
      return new Markup(joinedText(self, parts, runtime))
    },
  ],
  [
    'escape',
    (_self: string, call: Arguments, runtime: Runtime) => escapeValue(oneArgument('Markup.escape', call), runtime),
  ],
  [
    'unescape',
    (self: string, call: Arguments): Value => {
      noArguments('Markup.unescape', call)
      return unescapedHtml(self)
    },
  ],
  [
    'striptags',
    (self: string, call: Arguments): Value => {
      noArguments('Markup.striptags', call)
      return strippedOfTags(self)
    },
  ],
])

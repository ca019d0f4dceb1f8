/** The options of a render: the names that a template reads, and the JSON object with their values. */
import { memberOf, readJsonText, sourceOf, withoutValue, withValue } from '#lib/json/json-text.ts'

/** An option of the template, as the page shows it. */
export interface TemplateOption {
  readonly name: string
  /** Value as JSON; undefined if the template does not get it. */
  readonly source: string | undefined
  /** Whether the template reads the name; other options change nothing. */
  readonly isRead: boolean
  /** Whether the option is on or off, as far as its name or its value shows. */
  readonly isSwitch: boolean
}

/** The options, or why they cannot be read. */
export type OptionList =
  | { readonly kind: 'options'; readonly options: readonly TemplateOption[] }
  | { readonly kind: 'unreadable'; readonly why: string }

/** Returns the options of the text in their order, followed by others that the template reads. */
export function templateOptions(text: string, template: string): OptionList {
  const source = text.trim() === '' ? '{}' : text
  const reading = readJsonText(source)
  if (!reading.ok) {
    const { message, line, column } = reading.problem
    return { kind: 'unreadable', why: `The JSON has an error in line ${line}, column ${column}: ${message}.` }
  }
  const { root } = reading
  if (root.kind !== 'object') return { kind: 'unreadable', why: 'The JSON is not an object of names and values.' }
  const read = freeNames(template)
  const optionNames = [...new Set(root.members.map(({ key }) => key))]
  const names = [...new Set([...ARGUMENTS, ...optionNames, ...read])]
  return {
    kind: 'options',
    options: names.map((name) => {
      const member = memberOf(root, name)
      const value = member && sourceOf(source, member.value)
      return {
        name,
        source: value,
        isRead: read.includes(name) || name === 'continue_final_message',
        isSwitch: value === undefined ? SWITCH.test(name) : value === 'true' || value === 'false',
      }
    }),
  }
}

/** Arguments of apply_chat_template, which every template has; the second one works without being read. */
const ARGUMENTS = ['add_generation_prompt', 'continue_final_message']

/** Sets an option; `source` is JSON, and undefined removes the option. */
export function withOption(text: string, name: string, source: string | undefined): string {
  const object = text.trim() === '' ? '{}' : text
  return source === undefined ? withoutValue(object, [name]) : withValue(object, [name], source)
}

/** Names of options that are on or off in the templates of known models. */
const SWITCH = /^(add|continue|enable|disable|keep|preserve|clear|use|is|has|include|with|tools_in)_|thinking$/

/**
 * Returns the names that a template reads and does not set itself. They are found by words and not by syntax, because unfinished text has
 * no syntax. A name that one part of a template sets counts as set in all of it.
 */
export function freeNames(template: string): readonly string[] {
  const code = [...template.matchAll(/\{#[\s\S]*?#\}|\{\{([\s\S]*?)\}\}|\{%([\s\S]*?)%\}/g)]
    .map(([, expression, tag]) => (expression ?? tag ?? '').replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/gs, ' "" '))
    .filter((words) => words.trim() !== '')
  const set = new Set(code.flatMap(namesSet))
  const read = code.flatMap((words) =>
    // A name after a dot is an attribute, after a bar a filter, after `is` a test, and before an equals sign a keyword argument.
    [
      ...words.matchAll(/(?<![\w.])(?<!\.\s*)(?<!\|\s*)(?<!\bis\s+)(?<!\bis\s+not\s+)[A-Za-z_]\w*(?!\s*=(?!=))(?!\w)/g),
    ].map(([name]) => name),
  )
  // A template that tests whether a name is defined sets it only if nobody else has.
  const readNames = new Set(
    code.flatMap((words) =>
      [...words.matchAll(/(?<![\w.])(\w+)\s+is\s+(?:not\s+)?(?:un)?defined\b/g)].map(([, name]) => name),
    ),
  )
  return [...new Set(read)].filter((name) => (!set.has(name) || readNames.has(name)) && !KNOWN.has(name))
}

/**
 * Returns the texts with which a template compares a name, such as `effort == 'high'` and `effort in ['low', 'high']`, in its order and
 * each once.
 */
export function comparedTexts(template: string, name: string): readonly string[] {
  const quoted = /'([^'\\]*)'|"([^"\\]*)"/g
  const text = String.raw`'[^'\\]*'|"[^"\\]*"`
  const own = String.raw`(?<![\w.])${name}(?![\w.])`
  const compared = new RegExp(
    String.raw`${own}\s*[=!]=\s*(${text})|(${text})\s*[=!]=\s*${own}|${own}\s+(?:not\s+)?in\s*[[(]([^\])]*)[\])]`,
    'g',
  )
  const found = [...template.matchAll(compared)].flatMap(([, right, left, list]) =>
    Array.from((right ?? left ?? list ?? '').matchAll(quoted), ([, single, double]) => single ?? double ?? ''),
  )
  return [...new Set(found)]
}

function namesSet(words: string): readonly string[] {
  const [, keyword = '', rest = ''] = /^[-+\s]*([a-z]+)\s*([\s\S]*)$/.exec(words) ?? []
  const names = (text: string) => text.match(/[A-Za-z_]\w*/g) ?? []
  switch (keyword) {
    case 'for':
      return names(rest.split(/\bin\b/)[0] ?? '')
    case 'set':
    case 'with':
      return [...(/^[^=]*/.exec(rest)?.[0].replace(/[-+]$/, '') ?? '').split(',')].flatMap((part) =>
        part.includes('.') ? [] : names(part),
      )
    case 'macro':
      return names(rest)
    case 'import':
    case 'from':
      return names(rest)
    default:
      return []
  }
}

/** Jinja's own words and globals, and the variables of every render. */
const KNOWN = new Set(
  (
    'if elif else endif for endfor in not and or is set endset macro endmacro call endcall filter endfilter with endwith ' +
    'raw endraw block endblock generation endgeneration break continue recursive do import from include as ignore missing ' +
    'without context autoescape endautoescape true false none True False None loop caller varargs kwargs self super ' +
    'range dict lipsum cycler joiner namespace raise_exception strftime_now ' +
    'messages tools documents bos_token eos_token unk_token sep_token pad_token cls_token mask_token'
  ).split(' '),
)

/**
 * Reads the options of a command or of a Bash array: `--rollout-temperature 0.8 --rollout-stop "a" "b"`. Nothing is
 * executed.
 */
import { type NamedValues, skipBetween, skipQuoted } from './pairs.ts'

/** Returns whether the text contains an option outside of quotes and comments. */
export function isCommand(text: string): boolean {
  for (let at = skipBetween(text, 0); at < text.length; at = skipBetween(text, at)) {
    const isFirst = at === 0 || /[\s(]/.test(text.charAt(at - 1))
    if (isFirst && /^--[a-z]/i.test(text.slice(at, at + 3))) return true
    at = skipQuoted(text, at) ?? at + 1
  }
  return false
}

/** Reads `--name value` and `--name=value`. Several values become a list; an option without a value is true. */
export function optionsOf(text: string): NamedValues {
  const values = new Map<string, unknown>()
  const unread = new Map<string, string>()
  let option: { readonly name: string; readonly words: Word[] } | undefined
  const end = () => {
    if (!option) return
    const { name, words } = option
    option = undefined
    if (words.some(({ value }) => value === undefined)) unread.set(name, words.map(({ written }) => written).join(' '))
    else
      values.set(
        name,
        words.length === 0 ? true : words.length === 1 ? words[0]?.value : words.map(({ value }) => value),
      )
  }
  for (const word of wordsOf(text)) {
    const found = word === undefined ? undefined : OPTION.exec(word.written)
    if (word === undefined || found || /^-[a-z]/i.test(word.written)) end()
    if (!word || !found) {
      if (word && option) option.words.push(word)
      continue
    }
    const [whole, name = '', equals] = found
    const words = equals === '' ? [] : [wordFrom(word.written.slice(whole.length))]
    option = { name: name.replaceAll('-', '_'), words }
  }
  end()
  return { values, unread }
}

const OPTION = /^--([a-z][\w-]*)(=|$)/i

interface Word {
  readonly written: string
  /** Undefined if only the shell that runs the command knows the value, or if a quote is not closed. */
  readonly value: unknown
}

/** Yields words as Bash splits them, and undefined where a command ends and at both ends of an array. */
function* wordsOf(text: string): Generator<Word | undefined> {
  let depth = 0
  for (let at = 0; at < text.length; ) {
    const [space = ''] = matchAt(SPACE, text, at) ?? []
    at += space.length
    const character = text[at]
    if (character === undefined) return
    if (character === '#') at += (matchAt(COMMENT, text, at) as RegExpExecArray)[0].length
    else if (END.includes(character)) {
      if (character === '(') depth++
      else if (character === ')') depth = Math.max(0, depth - 1)
      // Within an array a line break is white space.
      if (character !== '\n' || depth === 0) yield undefined
      at++
    } else {
      const [written = ''] = matchAt(WORD, text, at) ?? []
      yield wordFrom(written)
      at += written.length
    }
  }
}

const SPACE = /(?:[ \t\r]|\\\r?\n)+/y
const COMMENT = /#[^\n]*/y
const END = '\n();|&<>'
/** Matches one word. An unclosed quote extends to the end of its line. */
const WORD =
  /(?:'[^']*'|"(?:[^"\\]|\\[\s\S])*"|['"][^\n]*|\\[\s\S]|\\|[^\s();|&<>\\'"$]|\$(?:\{[^}\n]*\}|\([^)\n]*\))?)+/y

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const PART = /'([^']*)'|"((?:[^"\\$`]|\\[\s\S])*)"|\\([\s\S])|([^\\'"$`]+)|([\s\S])/g

/** Reads the value of a word. A quoted word is a text; any other may be a number. */
function wordFrom(written: string): Word {
  const parts = [...written.matchAll(PART)]
  if (parts.some(([, , , , , odd]) => odd !== undefined)) return { written, value: undefined }
  const isBare = parts.every(([, , , , bare]) => bare !== undefined)
  const value = parts
    .map(([, single, double, escaped, bare]) =>
      double !== undefined
        ? double.replace(/\\(?:\n|([$`"\\]))/g, '$1')
        : (single ?? (escaped === '\n' ? '' : escaped) ?? bare),
    )
    .join('')
  return { written, value: isBare ? scalar(value) : value }
}

function scalar(text: string): unknown {
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (/^(none|null)$/i.test(text)) return null
  const number = Number(text.replaceAll('_', ''))
  return text === '' || Number.isNaN(number) ? text : number
}

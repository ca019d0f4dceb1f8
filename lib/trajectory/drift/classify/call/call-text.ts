/**
 * Parses the text of a tool call leniently: JSON in any notation (also with Python’s True and single quotes) and Python
 * arguments, `(a=1, b="x")`, between tags and other text. Nothing is evaluated. White space is separate, so texts of
 * the same value can be compared by how they are written. Offsets count UTF-16 code units.
 */
import type { Span } from '#lib/trajectory/format/trajectory.ts'

/** A parsed part of a call's text. */
export type CallSyntaxNode =
  | (Written & { readonly kind: 'text' | 'number' })
  | (Written & { readonly kind: 'word' | 'string' | 'name'; readonly value: string })
  | (Written & { readonly kind: 'list'; readonly items: readonly CallSyntaxNode[]; readonly close: CallPiece })
  | (Written & { readonly kind: 'object'; readonly members: readonly CallMember[]; readonly close: CallPiece })

/** A named value of an object or of Python arguments. */
export interface CallMember {
  readonly key: CallString
  readonly value: CallSyntaxNode
}
type CallString = Extract<CallSyntaxNode, { kind: 'word' | 'string' | 'name' }>

/** A range of the text with its content. */
export interface CallPiece extends Span {
  readonly raw: string
}

interface Written extends CallPiece {
  /** White space before the value, with its comma or colon. */
  readonly gap: CallPiece
}

/** Returns the parts in order; the last is an empty text. Brackets that do not contain JSON are text. */
export function callNodes(text: string): readonly CallSyntaxNode[] {
  const nodes: CallSyntaxNode[] = []
  let [from, at, refused] = [0, 0, 0]
  const addPlain = (end: number) => {
    const start = from + spaceAt(text, from, end)
    const raw = text.slice(start, end).trimEnd()
    if (raw === '' && end < text.length) return
    nodes.push(plain({ raw, start, end: start + raw.length, gap: piece(text, from, start) }))
    from = start + raw.length
  }
  while (at < text.length) {
    const tag = matchAt(TAG, text, at)
    const isBracket =
      (text[at] === '{' || text[at] === '[' || matchAt(ARGUMENTS, text, at) !== undefined) && refused < MOST_REFUSED
    if (tag === undefined && !isBracket) {
      at++
      continue
    }
    if (at > from) addPlain(at)
    if (tag !== undefined) {
      at += tag.length
      addPlain(at)
    } else {
      const value = readValue(text, piece(text, from, at), 0)
      if (value) {
        nodes.push(value)
        from = at = value.end
      } else {
        refused++
        at++
      }
    }
  }
  addPlain(text.length)
  return nodes
}

/** Matches only up to the first name, because other texts have parentheses too. */
const ARGUMENTS = /\((?=\s*(?:\)|[\p{L}_][\p{L}\p{N}_]*\s*=))/uy
const TAG = /<[^<>\s][^<>]*>/y
/** Limits failed attempts, because each reads ahead until it fails. */
const MOST_REFUSED = 8
/** Deeper JSON is treated as text: no tool takes it. */
const MAX_DEPTH = 128

const STRING = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|'[^'\\]*(?:\\[\s\S][^'\\]*)*'/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y
const WORD = /(?:true|false|null|True|False|None|NaN|-?Infinity)(?!\w)/y
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy
const [SPACE, COMMA, COLON, EQUALS] = [/\s*/y, /\s*,\s*/y, /\s*:\s*/y, /\s*=\s*/y]

/** JSON's words for Python’s. */
const WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

function plain(written: Written): CallSyntaxNode {
  const whole = (pattern: RegExp) => matchAt(pattern, written.raw, 0) === written.raw
  if (written.raw !== '' && whole(NUMBER)) return { kind: 'number', ...written }
  if (whole(WORD)) return { kind: 'word', value: WORDS[written.raw] ?? written.raw, ...written }
  return { kind: 'text', ...written }
}

/** Reads the value after a gap; undefined if there is none. */
function readValue(text: string, gap: CallPiece, depth: number): CallSyntaxNode | undefined {
  const start = gap.end
  if (depth > MAX_DEPTH) return undefined
  if (text[start] === '{') return readObject(text, gap, depth + 1, JSON_MEMBERS)
  if (text[start] === '(') return readObject(text, gap, depth + 1, NAMED_ARGUMENTS)
  if (text[start] === '[') return readList(text, gap, depth + 1)
  const string = readString(text, gap)
  if (string) return string
  const raw = matchAt(WORD, text, start) ?? matchAt(NUMBER, text, start)
  return raw === undefined ? undefined : plain({ raw, start, end: start + raw.length, gap })
}

interface MemberForm {
  readonly close: string
  readonly readKey: (text: string, gap: CallPiece) => CallString | undefined
  readonly separator: RegExp
}

const JSON_MEMBERS: MemberForm = { close: '}', readKey: readString, separator: COLON }
const NAMED_ARGUMENTS: MemberForm = { close: ')', readKey: readName, separator: EQUALS }

function readObject(text: string, gap: CallPiece, depth: number, form: MemberForm): CallSyntaxNode | undefined {
  const members: CallMember[] = []
  let at = gap.end + 1
  for (;;) {
    const close = gapAt(SPACE, text, at)
    if (close && text[close.end] === form.close)
      return { ...writtenPiece(text, gap, close.end + 1), kind: 'object', members, close }
    const before = gapAt(members.length === 0 ? SPACE : COMMA, text, at)
    const key = before && form.readKey(text, before)
    const separator = key && gapAt(form.separator, text, key.end)
    const value = separator && readValue(text, separator, depth)
    if (!value) return undefined
    members.push({ key, value })
    at = value.end
  }
}

function readList(text: string, gap: CallPiece, depth: number): CallSyntaxNode | undefined {
  const items: CallSyntaxNode[] = []
  let at = gap.end + 1
  for (;;) {
    const close = gapAt(SPACE, text, at)
    if (close && text[close.end] === ']')
      return { ...writtenPiece(text, gap, close.end + 1), kind: 'list', items, close }
    const before = gapAt(items.length === 0 ? SPACE : COMMA, text, at)
    const item = before && readValue(text, before, depth)
    if (!item) return undefined
    items.push(item)
    at = item.end
  }
}

function readString(text: string, gap: CallPiece): CallString | undefined {
  const raw = matchAt(STRING, text, gap.end)
  if (raw === undefined) return undefined
  return { ...writtenPiece(text, gap, gap.end + raw.length), kind: 'string', value: unescapeText(raw.slice(1, -1)) }
}

function readName(text: string, gap: CallPiece): CallString | undefined {
  const value = matchAt(NAME, text, gap.end)
  return value === undefined ? undefined : { ...writtenPiece(text, gap, gap.end + value.length), kind: 'name', value }
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([bfnrt])|([\s\S]))/g
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

const unescapeText = (text: string): string =>
  text.replace(ESCAPE, (_, unicode?: string, hex?: string, control?: string, other?: string) => {
    const code = unicode ?? hex
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    return control === undefined ? (other as string) : (CONTROLS[control] as string)
  })

const writtenPiece = (text: string, gap: CallPiece, end: number): Written => ({ ...piece(text, gap.end, end), gap })
const piece = (text: string, start: number, end: number): CallPiece => ({ raw: text.slice(start, end), start, end })

function gapAt(pattern: RegExp, text: string, start: number): CallPiece | undefined {
  const raw = matchAt(pattern, text, start)
  return raw === undefined ? undefined : piece(text, start, start + raw.length)
}

function matchAt(pattern: RegExp, text: string, start: number): string | undefined {
  pattern.lastIndex = start
  return pattern.exec(text)?.[0]
}

function spaceAt(text: string, start: number, end: number): number {
  const part = text.slice(start, end)
  return part.length - part.trimStart().length
}

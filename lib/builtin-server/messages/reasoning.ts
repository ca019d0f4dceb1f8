/** Separates the reasoning of a reply by SGLang's rules: of a whole text, and of a growing one. */

/** The marks around the reasoning of a reply. */
export interface ReasoningFormat {
  readonly open: string
  readonly close: string
  /** What follows the opening at the beginning of a text and is removed with it. Omitted: nothing. */
  readonly label?: string
  /** Opening of a call, in formats in which a call ends unclosed reasoning. */
  readonly call?: string
}

/** A text without its delimiters; `rest` is the answer. */
export interface ReasoningAndAnswer {
  readonly reasoning: string
  readonly rest: string
}

/** The format of the chat endpoint: `--reasoning-parser qwen3`. */
export const QWEN3: ReasoningFormat = { open: '<think>', close: '</think>', call: '<tool_call>' }

/** Separates a whole text. `isOpen`: the text begins inside the reasoning. */
export function splitReasoning(
  text: string,
  { open, close, label = '', call }: ReasoningFormat,
  isOpen: boolean,
): ReasoningAndAnswer {
  if (!isOpen && !text.includes(open)) return { reasoning: '', rest: text }
  const start = open + label
  let inside = text
  while (inside.startsWith(start)) inside = inside.slice(start.length)
  const end = inside.indexOf(close)
  if (end >= 0) return { reasoning: inside.slice(0, end), rest: inside.slice(end + close.length) }
  const callAt = call === undefined ? -1 : inside.indexOf(call)
  return callAt >= 0
    ? { reasoning: inside.slice(0, callAt), rest: inside.slice(callAt) }
    : { reasoning: inside, rest: '' }
}

/** The reasoning of one growing text. */
export interface ReasoningStream {
  /** Returns the parts that are certain now; a possible beginning of a delimiter comes later. */
  read(text: string): ReasoningAndAnswer
  /** Returns the remaining parts when no text follows. */
  end(): ReasoningAndAnswer
}

/** Returns the reader of one text. `whenClosed`: the reasoning is returned in one piece when it ends. */
export function reasoningStream(
  { open, close, call }: ReasoningFormat,
  isOpen: boolean,
  whenClosed: boolean,
): ReasoningStream {
  const delimiters = call === undefined ? [open, close] : [open, close, call]
  let inside = isOpen
  let hasOpened = false
  let buffer = ''
  const left = (reasoning: string, rest: string): ReasoningAndAnswer => {
    inside = false
    buffer = ''
    return { reasoning, rest }
  }
  return {
    read(text) {
      buffer += text
      if (delimiters.some((delimiter) => delimiter !== buffer && delimiter.startsWith(buffer))) return NOTHING
      if (!hasOpened && buffer.includes(open)) {
        buffer = buffer.replace(open, () => '')
        hasOpened = true
        inside = true
      }
      if (!inside) return left('', buffer)
      const end = buffer.indexOf(close)
      if (end >= 0) return left(buffer.slice(0, end), buffer.slice(end + close.length))
      const callAt = call === undefined ? -1 : buffer.indexOf(call)
      if (callAt >= 0) return left(buffer.slice(0, callAt), buffer.slice(callAt))
      if (whenClosed) return NOTHING
      const awaited = hasOpened ? delimiters.slice(1) : delimiters
      const safe = buffer.length - Math.max(...awaited.map((delimiter) => beginningAtEnd(buffer, delimiter)))
      const reasoning = buffer.slice(0, safe)
      buffer = buffer.slice(safe)
      return { reasoning, rest: '' }
    },
    end() {
      const last = buffer
      buffer = ''
      if (!inside) return { reasoning: '', rest: last }
      return { reasoning: last.startsWith(open) ? last.slice(open.length) : last, rest: '' }
    },
  }
}

const NOTHING: ReasoningAndAnswer = { reasoning: '', rest: '' }

/** Returns the length of the longest end of the text that may be the beginning of a delimiter. */
export function beginningAtEnd(text: string, delimiter: string): number {
  for (let length = Math.min(text.length, delimiter.length - 1); length > 0; length--)
    if (text.endsWith(delimiter.slice(0, length))) return length
  return 0
}

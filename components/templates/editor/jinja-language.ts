/**
 * Syntax colours for chat templates. @codemirror/lang-jinja is not used, because it does not support `{{-`, `set ns.x` and
 * slices, which most chat templates contain, and because it reads the text between tags as HTML.
 */
import { StreamLanguage, type StringStream } from '@codemirror/language'

interface State {
  readonly inside: 'text' | 'comment' | 'tag' | 'raw'
  /** End of the open tag: `}}` or `%}`. */
  readonly close: string
  /** Role of the next name: the tag's keyword, a filter, an attribute, or any name. */
  readonly next: 'keyword' | 'filter' | 'attribute' | 'name'
  readonly isRaw: boolean
}

const TEXT: State = { inside: 'text', close: '', next: 'name', isRaw: false }

const KEYWORDS = new Set(
  'if elif else for in not and or is recursive import from include as with without context ignore missing'.split(' '),
)
const CONSTANTS = new Set(['true', 'false', 'none', 'True', 'False', 'None'])

interface Box {
  state: State
}

/** The language for CodeMirror. */
export const jinjaLanguage = StreamLanguage.define<Box>({
  name: 'jinja',
  startState: () => ({ state: TEXT }),
  copyState: ({ state }) => ({ state }),
  token(stream, box) {
    const [style, state] = read(stream, box.state)
    box.state = state
    return style
  },
  languageData: {
    commentTokens: { block: { open: '{#', close: '#}' } },
    closeBrackets: { brackets: ['(', '[', '{', "'", '"'] },
  },
})

type Step = readonly [style: string | null, state: State]

function read(stream: StringStream, state: State): Step {
  switch (state.inside) {
    case 'text':
      return readText(stream, state)
    case 'comment':
      if (stream.skipTo('#}')) {
        stream.match('#}')
        return ['comment', TEXT]
      }
      stream.skipToEnd()
      return ['comment', state]
    case 'raw':
      if (stream.match(/^\{%[-+]?\s*endraw\s*[-+]?%\}/)) return ['brace', TEXT]
      stream.next()
      stream.eatWhile(/[^{]/)
      return [null, state]
    case 'tag':
      return readTag(stream, state)
  }
}

function readText(stream: StringStream, state: State): Step {
  if (stream.match('{#')) return ['comment', { ...state, inside: 'comment' }]
  if (stream.match(/^\{\{[-+]?/)) return ['brace', { inside: 'tag', close: '}}', next: 'name', isRaw: false }]
  if (stream.match(/^\{%[-+]?/)) return ['brace', { inside: 'tag', close: '%}', next: 'keyword', isRaw: false }]
  stream.next()
  stream.eatWhile(/[^{]/)
  return [null, state]
}

function readTag(stream: StringStream, state: State): Step {
  const { close, next } = state
  if (stream.eatSpace()) return [null, state]
  if (stream.match(close === '}}' ? /^[-+]?\}\}/ : /^[-+]?%\}/))
    return ['brace', state.isRaw ? { ...TEXT, inside: 'raw' } : TEXT]
  const plain: State = { ...state, next: 'name' }
  if (stream.match(/^'(?:[^'\\]|\\.)*'?|^"(?:[^"\\]|\\.)*"?/)) return ['string', plain]
  if (stream.match(/^\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return ['number', plain]
  const name = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null
  if (name) {
    const [word] = name
    if (next === 'keyword') return ['keyword', { ...plain, isRaw: word === 'raw' }]
    if (next === 'filter') return ['variableName.special', plain]
    if (next === 'attribute') return ['propertyName', plain]
    if (CONSTANTS.has(word)) return ['bool', plain]
    return [KEYWORDS.has(word) ? 'keyword' : 'variableName', word === 'is' ? { ...plain, next: 'filter' } : plain]
  }
  const sign = stream.next()
  return ['operator', { ...state, next: sign === '|' ? 'filter' : sign === '.' ? 'attribute' : 'name' }]
}

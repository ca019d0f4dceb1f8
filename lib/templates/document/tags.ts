/** Finds the tags of a template's source with their positions, only as exactly as changes to the text need. */

/** A tag of a template. */
export interface Tag {
  readonly kind: 'statement' | 'output' | 'comment'
  /** UTF-16 offsets in the source, delimiters included. */
  readonly start: number
  readonly end: number
  /** Offsets of the text between the delimiters and their whitespace control. */
  readonly innerStart: number
  readonly innerEnd: number
  /** Line of its start, from 1. */
  readonly line: number
}

const CLOSING = { '{%': '%}', '{{': '}}', '{#': '#}' } as const
const KINDS = { '{%': 'statement', '{{': 'output', '{#': 'comment' } as const

/** Returns the tags of a source; a tag that is not closed ends the list. */
export function tagsOf(source: string): readonly Tag[] {
  const tags: Tag[] = []
  const opening = /\{[%{#]/g
  let line = 1
  let counted = 0
  for (let match = opening.exec(source); match; match = opening.exec(source)) {
    const open = match[0] as keyof typeof CLOSING
    const end = endOf(source, match.index + 2, CLOSING[open], open === '{#')
    if (end === undefined) break
    for (; counted < match.index; counted++) if (source[counted] === '\n') line++
    const innerStart = match.index + (/[-+]/.test(source[match.index + 2] ?? '') ? 3 : 2)
    const innerEnd = end - (/[-+]/.test(source[end - 3] ?? '') && end - 3 >= innerStart ? 3 : 2)
    tags.push({ kind: KINDS[open], start: match.index, end, innerStart, innerEnd, line })
    opening.lastIndex = end
  }
  return tags
}

/** Returns the offset after the closing delimiter; delimiters within string literals do not count. */
function endOf(source: string, from: number, close: string, isComment: boolean): number | undefined {
  let quote = ''
  for (let at = from; at < source.length; at++) {
    const character = source.charAt(at)
    if (quote !== '') {
      if (character === '\\') at++
      else if (character === quote) quote = ''
    } else if (source.startsWith(close, at)) return at + close.length
    else if (!isComment && (character === '"' || character === "'")) quote = character
  }
  return undefined
}

/** The condition of an `if` or `elif`. */
export interface TagBranch {
  /** Offsets of the condition. */
  readonly start: number
  readonly end: number
  readonly line: number
}

/** Returns the conditions of every `if` and `elif` around a line (and of other branches of the same block), innermost block first. */
export function branchesAround(source: string, line: number): readonly TagBranch[] {
  const open: TagBranch[][] = []
  const around: (readonly TagBranch[])[] = []
  for (const tag of tagsOf(source)) {
    const inner = source.slice(tag.innerStart, tag.innerEnd)
    const word = tag.kind === 'statement' ? /^\s*(\w+)\s*/.exec(inner) : null
    if (!word) continue
    const start = tag.innerStart + word[0].length
    const condition = { start, end: Math.max(start, tag.innerStart + inner.trimEnd().length), line: tag.line }
    if (word[1] === 'if') open.push([condition])
    else if (word[1] === 'elif') open.at(-1)?.push(condition)
    else if (word[1] === 'endif') {
      // Blocks end from the inside out.
      const block = open.pop()
      if (block?.[0] && block[0].line <= line && line <= tag.line) around.push(block)
    }
  }
  return around.flat()
}

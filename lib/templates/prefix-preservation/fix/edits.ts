/** Changes to a template's text that may cure a finding, smallest first. fix.ts checks whether one does. */

import { branchesAround, tagsOf } from '#lib/templates/document/tags.ts'
import { escapePattern } from '#lib/util/text/escape-pattern.ts'
import type { CauseKind, CellFinding, TemplateFacts } from '../report.ts'

/** The replacement of a range of the template's text. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
  /** What the edit does, in one sentence. */
  readonly why: string
  /** Whether two such edits may be needed at a time, as with conditions. */
  readonly combines: boolean
}

/** Returns the text with all edits; their ranges must not overlap. */
export function applyEdits(source: string, edits: readonly Edit[]): string {
  return [...edits]
    .sort((a, b) => b.start - a.start)
    .reduce((text, { start, end, text: replacement }) => text.slice(0, start) + replacement + text.slice(end), source)
}

/** Returns the number of letters that an edit removes and adds. */
export const countEditedLetters = (source: string, { start, end, text }: Edit): number => {
  const old = source.slice(start, end)
  return text.includes(old)
    ? text.length - old.length
    : old.includes(text)
      ? old.length - text.length
      : old.length + text.length
}

/** Returns the edits that are worth trying for a finding, smallest first. */
export function editsFor(source: string, finding: CellFinding, facts: TemplateFacts): readonly Edit[] {
  const lines = [finding.line, finding.expectedLine].flatMap((line) => (line === undefined ? [] : [line]))
  const edits = KINDS[finding.cause.kind]?.flatMap((kind) => kind({ source, lines, finding, facts })) ?? []
  const unique = new Map(edits.map((edit) => [`${edit.start}:${edit.end}:${edit.text}`, edit]))
  return [...unique.values()]
    .filter(({ start, end, text }) => source.slice(start, end) !== text)
    .sort((a, b) => countEditedLetters(source, a) - countEditedLetters(source, b))
}

interface Site {
  readonly source: string
  /** Lines that wrote the differing text, the line of turn n+1 first. */
  readonly lines: readonly number[]
  readonly finding: CellFinding
  readonly facts: TemplateFacts
}

/** The kinds of edits that are worth trying, by cause. */
const KINDS: { readonly [kind in CauseKind]?: readonly ((site: Site) => readonly Edit[])[] } = {
  'thinking-stripped': [conditions],
  'empty-think-inserted': [conditions],
  'empty-think-dropped': [conditions],
  'generation-prompt': [conditions, emptyBlocks, newlines],
  'history-rewritten': [conditions, removals, newlines],
  whitespace: [removals, newlines, dashes, conditions],
  'content-rewritten': [removals],
  'end-of-turn': [endTokens, newlines, conditions],
  'results-reordered': [removals],
  'new-messages-rewritten': [conditions, newlines, removals],
  'content-dropped': [conditions],
}

/** Returns edits of the conditions around the lines and those near them, and around lines that write think blocks. */
function conditions({ source, lines, facts }: Site): readonly Edit[] {
  const thinkLines = tagsOf(source)
    .filter(({ kind, start, end }) => kind !== 'comment' && /think/i.test(source.slice(start, end)))
    .map(({ line }) => line)
  const near = [...new Set([...lines, ...thinkLines])].flatMap((line) =>
    Array.from({ length: 2 * NEAR + 1 }, (_, index) => line - NEAR + index),
  )
  const branches = [
    ...new Map(near.flatMap((line) => branchesAround(source, line)).map((branch) => [branch.start, branch])).values(),
  ]
  const names = thinkingNames(source, facts)
  const switches = promptConditions(source)
  return branches.flatMap(({ start, end }): Edit[] => {
    const old = source.slice(start, end)
    const change = (text: string, why: string): Edit => ({ start, end, text, why, combines: true })
    const wrapped = /\b(?:and|or|if)\b/.test(old) ? `(${old})` : old
    return [
      change('true', `Always takes this branch, instead of only if ${old}.`),
      change('false', `Never takes this branch, even if ${old}.`),
      ...(/\bloop\.last\b/.test(old) && old.trim() !== 'loop.last'
        ? [
            change(
              old.replaceAll(/\bloop\.last\b/g, 'true'),
              'Takes this branch for every message, not only for the last one.',
            ),
          ]
        : []),
      ...names.flatMap((name) => [
        change(name, `Takes this branch if there is ${name}, instead of if ${old}.`),
        change(`${wrapped} or ${name}`, `Takes this branch also if there is ${name}.`),
        change(`${wrapped} and ${name}`, `Takes this branch only if there is ${name}.`),
        ...switches.map((condition) =>
          change(
            `${name} or (${condition})`,
            `Takes this branch if there is ${name}, and if the generation prompt wrote an empty think block.`,
          ),
        ),
      ]),
      ...switches.map((condition) =>
        change(
          `${wrapped} or (${condition})`,
          'Takes this branch also if the generation prompt wrote an empty think block.',
        ),
      ),
    ]
  })
}

/** Returns the expressions in which the template keeps the thinking of a message. */
function thinkingNames(source: string, { thinkingFields }: TemplateFacts): readonly string[] {
  const set = [...source.matchAll(/\bset\s+(\w*(?:reason|think)\w*)\s*=/g)].map(([, name]) => name as string)
  const read = [...source.matchAll(/\b(\w+)\.(\w+)/g)]
    .filter(([, , field]) => thinkingFields.includes(field as string))
    .map(([name]) => name)
  return [...new Set([...set, ...read])].slice(0, 3)
}

/** Returns the conditions under which the generation prompt writes an empty think block. */
function promptConditions(source: string): readonly string[] {
  const found = tagsOf(source)
    .filter(({ kind, start, end }) => kind === 'output' && EMPTY_THINK.test(source.slice(start, end)))
    .map(({ line }) => branchesAround(source, line)[0])
  return [...new Set(found.flatMap((branch) => (branch ? [source.slice(branch.start, branch.end)] : [])))]
}

const EMPTY_THINK = /(<|\[)(\w*think\w*)(>|\])(?:\\n|\s)*\1\/\2\3/i

/** Returns edits that write, before a reply in history, the empty think block that the generation prompt wrote before it. */
function emptyBlocks({ source, lines, facts }: Site): readonly Edit[] {
  const tags = tagsOf(source)
  const name = /\bfor\s+(\w+)\s+in\s+messages\b/.exec(source)?.[1]
  const block = tags.find(({ kind, start, end }) => kind === 'output' && EMPTY_THINK.test(source.slice(start, end)))
  const literal =
    block && /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/.exec(source.slice(block.innerStart, block.innerEnd))?.[0]
  const [condition] = promptConditions(source)
  if (name === undefined || literal === undefined || condition === undefined) return []
  const field = facts.thinkingFields[0]
  const without = field === undefined ? '' : ` and not ${name}.${field}`
  const text = `{%- if ${name}.role == 'assistant' and (${condition})${without} -%}{{- ${literal} -}}{%- endif -%}`
  return tags
    .filter(({ kind, line }) => kind === 'output' && lines.some((wanted) => Math.abs(wanted - line) <= 2 * NEAR))
    .flatMap(({ start, end }) =>
      [end, start].map((place) => ({
        start: place,
        end: place,
        text,
        why: 'Writes the empty think block of the generation prompt also before replies in the history.',
        combines: false,
      })),
    )
}

/** Returns edits that take out filters and methods that remove whitespace or change the order. */
function removals({ source, lines }: Site): readonly Edit[] {
  const near = lines[0] ?? 1
  return tagsOf(source)
    .filter(({ kind }) => kind !== 'comment')
    .sort((a, b) => Math.abs(a.line - near) - Math.abs(b.line - near))
    .flatMap(({ innerStart, innerEnd }) =>
      REMOVED.flatMap((pattern) => [...source.slice(innerStart, innerEnd).matchAll(pattern)]).map(
        ({ index, 0: found }) => ({
          start: innerStart + index,
          end: innerStart + index + found.length,
          text: '',
          why: `Removes ${found.trim()}.`,
          combines: false,
        }),
      ),
    )
}

const REMOVED: readonly RegExp[] = [
  /\s*\|\s*(?:trim|sort|reverse|unique)\b(?:\((?:[^()"']|"[^"]*"|'[^']*')*\))?(?:\s*\|\s*list\b)?/g,
  /\s*\|\s*(?:trim|sort|reverse|unique)\b(?:\((?:[^()"']|"[^"]*"|'[^']*')*\))?/g,
  /\.(?:l|r)?strip\((?:"[^"]*"|'[^']*')?\)|\[::-1\]/g,
]

/** Returns edits of the line ends at the edges of the string literals near the lines. */
function newlines({ source, lines }: Site): readonly Edit[] {
  return literalRanges(source, lines).flatMap(({ start, end, newline }): Edit[] => {
    const text = source.slice(start, end)
    const edit = (at: number, length: number, replacement: string, why: string): Edit => ({
      start: at,
      end: at + length,
      text: replacement,
      why,
      combines: false,
    })
    return [
      edit(end, 0, newline, 'Writes the newline that was dropped.'),
      edit(start, 0, newline, 'Writes the newline that was dropped.'),
      ...(text.endsWith(newline)
        ? [edit(end - newline.length, newline.length, '', 'Removes the newline that was added.')]
        : []),
      ...(text.startsWith(newline) ? [edit(start, newline.length, '', 'Removes the newline that was added.')] : []),
    ]
  })
}

interface LiteralRange {
  readonly start: number
  readonly end: number
  /** How a line end is spelled in the literal. */
  readonly newline: string
}

/** Returns the string literals in the tags on the lines and near them. */
function literalRanges(source: string, lines: readonly number[]): readonly LiteralRange[] {
  return tagsOf(source)
    .filter(({ kind, line }) => kind === 'output' && lines.some((wanted) => Math.abs(wanted - line) <= NEAR))
    .flatMap(({ innerStart, innerEnd }) =>
      [...source.slice(innerStart, innerEnd).matchAll(/"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'/gs)].map(
        ({ index, 0: literal }) => ({
          start: innerStart + index + 1,
          end: innerStart + index + literal.length - 1,
          newline: '\\n',
        }),
      ),
    )
}

/** Number of lines around the one that wrote the text in which a literal may belong to this text too. */
const NEAR = 3

/** Returns edits of the whitespace control of the tags near the lines. */
function dashes({ source, lines }: Site): readonly Edit[] {
  return tagsOf(source)
    .filter(({ line }) => lines.some((wanted) => Math.abs(wanted - line) <= 1))
    .flatMap(({ start, end, innerStart, innerEnd }): Edit[] => {
      const edit = (from: number, to: number, text: string, why: string): Edit => ({
        start: from,
        end: to,
        text,
        why,
        combines: false,
      })
      return [
        innerStart - start === 3
          ? edit(start + 2, start + 3, '', 'Keeps the whitespace before the tag.')
          : edit(start + 2, start + 2, '-', 'Removes the whitespace before the tag.'),
        end - innerEnd === 3
          ? edit(innerEnd, innerEnd + 1, '', 'Keeps the whitespace after the tag.')
          : edit(innerEnd, innerEnd, '-', 'Removes the whitespace after the tag.'),
      ]
    })
}

/** Returns edits of the token that ends a turn: where there is another token, none, or two. */
function endTokens({ source, lines, finding, facts }: Site): readonly Edit[] {
  const ours = facts.endOfTurn
  const at = finding.tokenIndex - finding.rendered.start
  const theirs = finding.rendered.tokens[at]?.piece
  const near = lines[0] ?? 1
  const tags = tagsOf(source).filter(({ line, kind }) => kind !== 'comment' && Math.abs(line - near) <= NEAR)
  const replaced = (pattern: string, text: string, why: string): Edit[] =>
    tags.flatMap(({ start, end }) =>
      [...source.slice(start, end).matchAll(new RegExp(pattern, 'g'))].map(({ index, 0: found }) => ({
        start: start + index,
        end: start + index + found.length,
        text,
        why,
        combines: false,
      })),
    )
  const added = literalRanges(source, lines).flatMap(({ start, end }) =>
    [start, end].map((place) => ({
      start: place,
      end: place,
      text: ours,
      why: `Ends the turn with ${ours}.`,
      combines: false,
    })),
  )
  const alias =
    typeof theirs === 'string' && theirs !== ours
      ? replaced(escapePattern(theirs), ours, `Ends every turn with ${ours} instead of ${theirs}.`)
      : []
  return [
    ...alias,
    ...replaced('\\beos_token\\b', `'${ours}'`, `Ends every turn with ${ours} instead of eos_token.`),
    ...replaced(escapePattern(ours), '', `Removes the second ${ours}.`),
    ...(alias.length > 0 ? [] : added),
  ]
}

/**
 * Parses the library's search into conditions on rows: words, "phrases" and numbers such as `reward>0.5`. A minus before a
 * term negates it, as in the find bar. All input is passed as parameters.
 */
import { type ComparisonSign, comparedWith, type Interval, readNumber, readRange } from '#lib/util/interval.ts'
import { foldCase } from './fold-case.ts'
import { indexedText } from './search-index.ts'

/** An SQL condition on rows of `trajectories`, with the values of its parameters in order. */
export interface Condition {
  readonly sql: string
  readonly values: readonly (string | number | null)[]
}

/** Columns by their names in a search. */
const NUMBERS: Readonly<Record<string, string>> = {
  reward: 'reward',
  tokens: 'tokens',
  trained: 'trained',
  logprob: 'mean_logprob',
  turns: 'turns',
  segments: 'segments',
  calls: 'tool_calls',
  failed: 'failed_calls',
}

/** Returns the conditions of a search, which must all be true. */
export const searchConditions = (text: string): readonly Condition[] =>
  Array.from(text.matchAll(TERM), ([, minus, phrase, word = '']) => {
    const condition = phrase === undefined ? (numberCondition(word) ?? textCondition(word)) : textCondition(phrase)
    return minus === undefined ? condition : condition && negated(condition)
  }).filter((condition) => condition !== undefined)

/** A minus before a letter, `_` or a quoted phrase negates the term. Before a digit, a sign or a space it is text: -3, ->, --flag. */
const TERM = /(?:(-)(?=[\p{L}_]|"[^"]+"(?!\S)))?(?:"([^"]+)"(?!\S)|(\S+))/gu

/** Returns the condition of the rows that do not match. An unknown number matches no condition, so its row is among them. */
const negated = ({ sql, values }: Condition): Condition => ({ sql: `(${sql}) IS NOT TRUE`, values })

/** Returns the condition of a number such as `reward>0.5`, or undefined for text. An unknown number is in no interval. */
function numberCondition(word: string): Condition | undefined {
  const [, name = '', sign = '', value = ''] = /^([a-z]+)(:|<=|>=|<|>|=)(.+)$/i.exec(word) ?? []
  const key = name.toLowerCase()
  if (!Object.hasOwn(NUMBERS, key)) return undefined
  const interval: Interval | undefined =
    sign === ':' || sign === '=' ? readRange(value) : comparedWith(sign as ComparisonSign, readNumber(value))
  if (!interval) return undefined
  const { low, high, without } = interval
  const column = NUMBERS[key]
  return without === undefined
    ? { sql: `${column} BETWEEN ? AND ?`, values: [low, high] }
    : { sql: `(${column} BETWEEN ? AND ? AND ${column} <> ?)`, values: [low, high, without] }
}

/** Returns the condition of a word or phrase; undefined if it is empty. */
function textCondition(text: string): Condition | undefined {
  const word = foldCase(text).trim()
  if (word === '') return undefined
  // instr has no patterns: a % in the search is a % in the text.
  const inRow = { sql: 'instr(labels_search, ?) > 0 OR instr(record_search, ?) > 0', values: [word, word] }
  const match = matchExpression(word)
  return match === undefined
    ? { ...inRow, sql: `(${inRow.sql})` }
    : {
        sql: `(${inRow.sql} OR key IN (SELECT key FROM generated WHERE id IN (SELECT rowid FROM generated_search WHERE generated_search MATCH ?)))`,
        values: [...inRow.values, match],
      }
}

/**
 * Matches the words of generated text in sequence. The last one also matches the beginning of a longer word, unless it
 * is a single character, which would match too many. Undefined without words.
 */
function matchExpression(text: string): string | undefined {
  const indexed = indexedText(text)
  const characters = indexed.match(WORD_CHARACTER) ?? []
  if (characters.length === 0) return undefined
  const isOpen = characters.length > 1 && /[\p{L}\p{N}\p{Co}]$/u.test(indexed)
  // Inside of quotes only the quote itself is special.
  return `"${indexed.replaceAll('"', ' ')}"${isOpen ? ' *' : ''}`
}

/** Word characters of unicode61, the tokenizer of the index. */
const WORD_CHARACTER = /[\p{L}\p{N}\p{Co}]/gu

/**
 * Calls like those of hermes in a list between tags: `<tool_calls>[{"name": …, "arguments": {…}}, …]</tool_calls>`, the
 * format of Apriel; MiniMax M1 writes one call on each line, without brackets. Nemotron Nano 2 names the tag TOOLCALL.
 * Granite 3 writes only a token before the list, and Phi-4 mini another one after it, or the word functools before it.
 * xLAM 2 writes only the list. HyperCLOVA X writes the recipient of its message before the list.
 */
import type { CallMarkup, ParsedCall, PlacedCall, TextRange, ToolParser } from '../parser.ts'
import { createFinder } from './finder.ts'
import { brokenList, jsonLinesReader, jsonListReader, type ListReader, listParser } from './lists.ts'
import { callInEntry, callWithId } from './object-call.ts'
import { markupIn, markupOf } from './rest.ts'
import { markupOfRuns, readCallRuns } from './runs.ts'

const SPELLING = { arguments: ['arguments', 'parameters'], id: 'id' } as const
const calledIn = callWithId(SPELLING)

/** Parser of Apriel and MiniMax M1. */
export const toolCalls = listParser({
  name: 'tool_calls',
  open: '<tool_calls>',
  close: '</tool_calls>',
  bareStart: /\{/,
  reader,
})
/** Parser of Nemotron Nano 2. */
export const nemotron = listParser({
  name: 'nemotron',
  open: '<TOOLCALL>',
  close: '</TOOLCALL>',
  bareStart: /\{/,
  reader,
})
/** Parser of Granite 3, and of Phi-4 mini with its tokens. */
export const granite = listParser({
  name: 'granite',
  open: '<|tool_call|>',
  close: '<|/tool_call|>',
  mayBeUnclosed: true,
  reader,
})
/** Parser of Phi-4 mini without tokens. */
export const phi4Mini = listParser({
  name: 'phi4_mini',
  open: 'functools',
  close: '<|/tool_call|>',
  mayBeUnclosed: true,
  opensWithWord: true,
  reader,
})
/** Matches the ends of messages of HyperCLOVA X, and the headers of further ones. */
const FRAME = /<\|im_start\|>assistant\n?|<\|im_end\|>(?:<\|(?:stop|endofturn)\|>)?/g
const recipientLists = listParser({
  name: 'hyperclovax',
  open: '-> tool/function_call',
  // The token that ends a turn. Delimiters stay in the text, so <|im_end|>, which ends replies of other models, is none.
  close: '<|stop|>',
  mayBeUnclosed: true,
  opensWithWord: true,
  reader,
})
/** Parser of HyperCLOVA X. The prompt ends before the recipient of the first message. */
export const hyperclovax: ToolParser = {
  ...recipientLists,
  markup: (text, calls, shielded) =>
    [...markupIn(text, calls, shielded, recipientLists), ...markupOf(text, FRAME, calls, shielded)].sort(
      (a, b) => a.start - b.start,
    ),
}
/** Parser of Granite 20B for function calling, which writes the token before every call: more JSON after it is text. */
export const granite20b = listParser({
  name: 'granite_20b_fc',
  open: '<function_call>',
  close: '</function_call>',
  bareStart: /\{/,
  mayBeUnclosed: true,
  reader: (text, nextBound) => jsonLinesReader(text, nextBound, calledIn, 1),
})
/** Parser of Falcon 3. Its template writes the whole entries of the message, in which the call is the member "function". */
export const falcon3 = listParser({
  name: 'falcon3',
  open: '<tool_call>',
  close: '</tool_call>',
  // Without a list after it, the tag is that of another format.
  opensWithWord: true,
  reader: (text, nextBound) => jsonListReader(text, nextBound, callInEntry(SPELLING)),
})
/** Parser of xLAM 2. A list of objects that do not begin with a name and arguments is an answer. */
export const xlam: ToolParser = {
  name: 'xlam',
  delimiters: { open: '[', close: '' },
  parse: parseBare,
  markup: markupOfBare,
}

/** Matches the bracket of a list without a mark of another format before it. */
const BARE_LIST =
  /\[(?<!(?:<tool_calls?>|<TOOLCALL>|<\|tool_call(?:_start)?\|>|\[TOOL_CALLS\]|functools|tool\/function_call)\s*\[)\s*(?=\{\s*"name"\s*:\s*"(?:[^"\\]|\\.){1,200}"\s*,\s*"arguments"\s*:)/g

function parseBare(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const nextOpen = createFinder(text, BARE_LIST)
  const readList = jsonListReader(text, nextOpen, calledIn)
  return readCallRuns(shielded, nextOpen, (open) => {
    const list = readList(open)
    if (list.ok) return list
    const bound = nextOpen(list.at)
    return brokenList(text, open, list, bound < 0 ? text.length : bound)
  })
}

function markupOfBare(
  text: string,
  calls: readonly PlacedCall[],
  shielded: readonly TextRange[],
): readonly CallMarkup[] {
  const opens = Array.from(text.matchAll(BARE_LIST), ({ 0: tag, index }) => ({ start: index, end: index + tag.length }))
  return markupOfRuns(calls, shielded, text, { opens, between: /\s*,\s*/y, close: /\s*,?\s*\]/y, mayBeEmpty: false })
}

function reader(text: string, nextBound: (from: number) => number): ListReader {
  const readList = jsonListReader(text, nextBound, calledIn)
  const readLines = jsonLinesReader(text, nextBound, calledIn)
  return (start) => (text[start] === '[' ? readList(start) : readLines(start))
}

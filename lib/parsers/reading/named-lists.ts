/**
 * Calls like those of hermes in a list between tags: `<tool_calls>[{"name": …, "arguments": {…}}, …]</tool_calls>`, the
 * format of Apriel; MiniMax M1 writes one call on each line, without brackets. Nemotron Nano 2 names the tag TOOLCALL.
 * Granite 3 writes only a token before the list, and Phi-4 mini another one after it, or the word functools before it.
 */
import { jsonLinesReader, jsonListReader, type ListReader, listParser } from './lists.ts'
import { callWithId } from './object-call.ts'

const calledIn = callWithId({ arguments: ['arguments', 'parameters'], id: 'id' })

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

function reader(text: string, nextBound: (from: number) => number): ListReader {
  const readList = jsonListReader(text, nextBound, calledIn)
  const readLines = jsonLinesReader(text, nextBound, calledIn)
  return (start) => (text[start] === '[' ? readList(start) : readLines(start))
}

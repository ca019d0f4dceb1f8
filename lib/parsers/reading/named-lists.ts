/**
 * Calls like those of hermes in a list between tags: `<tool_calls>[{"name": …, "arguments": {…}}, …]</tool_calls>`, the
 * format of Apriel; MiniMax M1 writes one call on each line, without brackets. Nemotron Nano 2 names the tag TOOLCALL.
 */
import { jsonLinesReader, jsonListReader, type ListReader, listParser } from './lists.ts'
import { callWithId } from './object-call.ts'

const calledIn = callWithId({ arguments: ['arguments', 'parameters'], id: 'id' })

/** Parser of Apriel and MiniMax M1. */
export const toolCalls = listParser({
  name: 'tool_calls',
  open: '<tool_calls>',
  close: '</tool_calls>',
  mayBeBare: true,
  reader,
})
/** Parser of Nemotron Nano 2. */
export const nemotron = listParser({
  name: 'nemotron',
  open: '<TOOLCALL>',
  close: '</TOOLCALL>',
  mayBeBare: true,
  reader,
})

function reader(text: string, nextBound: (from: number) => number): ListReader {
  const readList = jsonListReader(text, nextBound, calledIn)
  const readLines = jsonLinesReader(text, nextBound, calledIn)
  return (start) => (text[start] === '[' ? readList(start) : readLines(start))
}

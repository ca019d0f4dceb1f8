/**
 * Calls as hermes has them in a list between tags: `<tool_calls>[{"name": …, "arguments": {…}}, …]</tool_calls>`, as Apriel writes them;
 * MiniMax M1 writes a line for each, without brackets. Nemotron Nano 2 names the tag TOOLCALL.
 */
import type { WholeObject } from './json-body.ts'
import { jsonLinesReader, jsonListReader, type ListReader, listParser } from './lists.ts'
import { jsonAt } from './named-call.ts'
import { objectCall } from './object-call.ts'
import type { ParsedCall } from './parser.ts'

const SPELLING = { arguments: ['arguments', 'parameters'], id: 'id' } as const

export const toolCalls = listParser({
  name: 'tool_calls',
  open: '<tool_calls>',
  close: '</tool_calls>',
  mayBeBare: true,
  reader,
})
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

function calledIn(text: string, start: number, object: WholeObject): ParsedCall {
  const { call, id } = objectCall(text, start, object, SPELLING)
  const written = id && jsonAt(text, id)
  return typeof written === 'string' && written !== '' ? { ...call, writtenId: written } : call
}

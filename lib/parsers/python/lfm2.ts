/**
 * LFM2: `<|tool_call_start|>[f(a="x"), g()]<|tool_call_end|>`, a list as in pythonic, or one of objects: `[{"name": …,
 * "arguments": {…}}]`. Its templates write nested values as JSON, so the words of both languages are accepted.
 */

import { skipSpace } from '#lib/json/json-scan.ts'
import { jsonListReader, type ListReader, listParser } from '../reading/lists.ts'
import { objectCall } from '../reading/object-call.ts'
import { listBetween, PYTHON_AND_JSON_WORDS, pythonListReader } from './python-calls.ts'

const SPELLING = { arguments: ['arguments', 'parameters'] } as const

/** Parser of LFM2. */
export const lfm2 = listParser({
  name: 'lfm2',
  sglangNames: ['lfm2'],
  open: '<|tool_call_start|>',
  close: '<|tool_call_end|>',
  reader,
})

function reader(text: string, nextBound: (from: number) => number): ListReader {
  const readObjects = jsonListReader(
    text,
    nextBound,
    (_, start, object) => objectCall(text, start, object, SPELLING).call,
  )
  const readPython = pythonListReader(text, PYTHON_AND_JSON_WORDS)
  return (bracket) => {
    const first = text[skipSpace(text, bracket + 1, text.length)]
    if (first === '{' || first === ']') return readObjects(bracket)
    return listBetween(readPython(bracket), bracket, nextBound)
  }
}

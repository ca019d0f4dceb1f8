/**
 * Olmo 3: `<function_calls>f(a="x")\ng()</function_calls>`, a Python call on each line. Its template writes values as JSON, so
 * the words of both languages are accepted. MiniCPM3 writes the same lines as a block of Python between the tokens of LFM2.
 */

import { type ListReader, listParser } from '../reading/lists.ts'
import { listBetween, NAME_START, PYTHON_AND_JSON_WORDS, pythonLinesReader } from './python-calls.ts'

/** Parser of Olmo 3. */
export const olmo3 = listParser({
  name: 'olmo3',
  open: '<function_calls>',
  close: '</function_calls>',
  bareStart: NAME_START,
  reader,
})
/** Parser of MiniCPM3. */
export const minicpm3 = listParser({
  name: 'minicpm3',
  open: '<|tool_call_start|>',
  fence: '```python',
  close: '```\n<|tool_call_end|>',
  bareStart: NAME_START,
  reader,
})

function reader(text: string, nextBound: (from: number) => number): ListReader {
  const read = pythonLinesReader(text, PYTHON_AND_JSON_WORDS)
  return (start) => listBetween(read(start), start, nextBound)
}

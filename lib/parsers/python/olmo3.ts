/**
 * Olmo 3: `<function_calls>f(a="x")\ng()</function_calls>`, a Python call on each line. Its template writes values as JSON, so
 * the words of both languages are accepted.
 */

import { listParser } from '../reading/lists.ts'
import { listBetween, NAME_START, PYTHON_AND_JSON_WORDS, pythonLinesReader } from './python-calls.ts'

/** Parser of Olmo 3. */
export const olmo3 = listParser({
  name: 'olmo3',
  open: '<function_calls>',
  close: '</function_calls>',
  bareStart: NAME_START,
  reader: (text, nextBound) => {
    const read = pythonLinesReader(text, PYTHON_AND_JSON_WORDS)
    return (start) => listBetween(read(start), start, nextBound)
  },
})

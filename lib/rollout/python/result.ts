/** Formats the result of a piece of code for the model. */
import { countText } from '#lib/util/text/count-with-noun.ts'
import type { CutText, ExecutionResult } from './protocol.ts'

/** Returns the printed text, then the value of the last expression or the traceback, each on lines of its own. */
export const resultText = ({ printed, value, error }: ExecutionResult): string =>
  [printed, value, error].flatMap((part) => (part && part.text !== '' ? [showCutText(part)] : [])).join('\n')

function showCutText({ text, wholeBytes }: CutText): string {
  const lines = text.replace(/\n$/, '')
  if (wholeBytes === undefined) return lines
  return `${lines}\n[cut: ${countText(Buffer.byteLength(text))} of ${countText(wholeBytes)} bytes are shown]`
}

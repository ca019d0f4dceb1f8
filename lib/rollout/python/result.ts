/** Formats the result of a piece of code for the model. */
import type { CutText, Ran } from './protocol.ts'

/** Returns the printed text, then the value of the last expression or the traceback, each on lines of its own. */
export const resultText = ({ printed, value, error }: Ran): string =>
  [printed, value, error].flatMap((part) => (part && part.text !== '' ? [shown(part)] : [])).join('\n')

function shown({ text, wholeBytes }: CutText): string {
  const lines = text.replace(/\n$/, '')
  if (wholeBytes === undefined) return lines
  return `${lines}\n[cut: ${counted(Buffer.byteLength(text))} of ${counted(wholeBytes)} bytes are shown]`
}

const counted = (bytes: number): string => bytes.toLocaleString('en-US')

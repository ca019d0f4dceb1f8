/**
 * Reads server-sent events as JSON lines. Each line keeps its number and its length: the field name becomes spaces, and so do all
 * other fields.
 */
import { piecesOf, type ReadContainer } from './container.ts'

/** Yields one file, in which each `data:` line is a record. */
export const readEvents: ReadContainer = async function* ({ bytes, tools }) {
  yield { kind: 'file', name: undefined, bytes: await tools.keep(dataLines(piecesOf(bytes))) }
}

const [NEWLINE, RETURN, SPACE] = [10, 13, 32] as const
/** A line with data, except for the end of a stream of OpenAI. */
const IS_DATA = /^data:(?! *\[DONE\])/
const FIELD = 'data:'.length
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const
/** Number of bytes from which the kind of a line is known. */
const BEGINNING = 32

/** Yields the bytes of events as JSON lines of the same length. */
export async function* dataLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = new Uint8Array()
  const state = { isFileStart: true, isLineStart: true, isData: false }
  for await (const piece of pieces) {
    const bytes = joined(left, piece)
    const end = bytes.length - BEGINNING
    if (end < BYTE_ORDER_MARK.length) {
      left = bytes
      continue
    }
    blankFields(bytes, end, state)
    yield bytes.subarray(0, end)
    left = bytes.slice(end)
  }
  blankFields(left, left.length, state)
  yield left
}

interface BlankingState {
  isFileStart: boolean
  isLineStart: boolean
  isData: boolean
}

/** Overwrites everything up to `end` that is no data. A line that begins there may continue after it. */
function blankFields(bytes: Uint8Array, end: number, state: BlankingState): void {
  const hasMark = state.isFileStart && BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte)
  const start = hasMark ? BYTE_ORDER_MARK.length : 0
  bytes.fill(SPACE, 0, start)
  state.isFileStart = false
  for (let i = start; i < end; i++) {
    const byte = bytes[i]
    if (byte === NEWLINE || byte === RETURN) {
      state.isLineStart = true
      continue
    }
    if (state.isLineStart) {
      state.isData = IS_DATA.test(
        new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(i, i + BEGINNING)),
      )
      if (state.isData) {
        bytes.fill(SPACE, i, i + FIELD)
        i += FIELD - 1
      }
      state.isLineStart = false
    }
    if (!state.isData) bytes[i] = SPACE
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}

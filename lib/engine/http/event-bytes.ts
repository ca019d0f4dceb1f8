/**
 * Splits a stream of server-sent events into the data of each event, as bytes. SGLang writes an event as one line `data: …` and
 * an empty line. A stream with anything else is read by eventsource-parser from there on.
 */
import { createParser } from 'eventsource-parser'
import { EngineError } from './errors.ts'

/** Reads the parts of one stream. */
export interface EventReader {
  /** Returns the data of the events that end in this part. Throws EngineError TOO_LARGE. */
  read(part: Uint8Array): Buffer[]
}

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
const END = Buffer.from('\n\n')
const DATA = Buffer.from('data: ')
const COLON = 0x3a

/** Creates a reader that refuses events of more than `longest` bytes. */
export function createEventReader(longest: number): EventReader {
  /** Parts of the event that has not ended. */
  let open: Buffer[] = []
  let length = 0
  let hasEvents = false
  let other: EventReader | undefined
  const keep = (bytes: Buffer): void => {
    if (bytes.length === 0) return
    open.push(bytes)
    length += bytes.length
    if (length > longest) throw tooLarge(longest)
  }
  const take = (): Buffer => {
    const [only = EMPTY, ...others] = open
    const event = others.length === 0 ? only : Buffer.concat(open)
    open = []
    length = 0
    return event
  }
  const readOther = (...parts: readonly Buffer[]): Buffer[] => {
    const reader = parsedEvents(longest, !hasEvents)
    other = reader
    return parts.flatMap((part) => reader.read(part))
  }
  return {
    read(part) {
      if (other) return other.read(part)
      const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength)
      if (bytes.includes(CARRIAGE_RETURN)) return readOther(take(), bytes)
      const found: Buffer[] = []
      let from = 0
      for (;;) {
        // An event may end between two parts.
        const endsHere = open.at(-1)?.at(-1) === NEWLINE && bytes[from] === NEWLINE
        const end = endsHere ? from - 1 : bytes.indexOf(END, from)
        if (!endsHere && end < 0) break
        keep(bytes.subarray(from, Math.max(from, end)))
        const event = take()
        const line = endsHere ? event.subarray(0, -1) : event
        from = end + END.length
        if (line.includes(NEWLINE) || !isKnown(line)) return [...found, ...readOther(line, END, bytes.subarray(from))]
        hasEvents = true
        if (line[0] === DATA[0]) found.push(line.subarray(DATA.length))
      }
      keep(bytes.subarray(from))
      return found
    },
  }
}

const EMPTY = Buffer.alloc(0)

/** Returns whether a line has the data of an event, or nothing that is read: no character or a comment. */
const isKnown = (line: Buffer): boolean =>
  line.length === 0 || line[0] === COLON || line.subarray(0, DATA.length).equals(DATA)

/** Reads events in any notation that the standard allows. A byte order mark is skipped only at the beginning of a stream. */
function parsedEvents(longest: number, isBeginning: boolean): EventReader {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: !isBeginning })
  const queue: Buffer[] = []
  let isTooLarge = false
  const parser = createParser({
    onEvent: ({ data }) => queue.push(Buffer.from(data)),
    onError: ({ type }) => {
      isTooLarge ||= type === 'max-buffer-size-exceeded'
    },
    maxBufferSize: longest,
  })
  // After an empty comment, the parser looks for no byte order mark.
  if (!isBeginning) parser.feed(':\n')
  return {
    read(part) {
      parser.feed(decoder.decode(part, { stream: true }))
      if (isTooLarge) throw tooLarge(longest)
      return queue.splice(0)
    },
  }
}

const tooLarge = (longest: number): EngineError =>
  new EngineError('TOO_LARGE', `an event of the reply is larger than ${longest} characters`)

/**
 * The ids that the calls of a conversation send: each call sends all earlier ids and some more. Their JSON and their hash are extended by
 * the new ids only, so that a long conversation is not serialized whole at every turn.
 */
import { createHash } from 'node:crypto'
import { endianness } from 'node:os'
import { idBytes } from '#lib/trajectory/format/input-hash.ts'

/** The ids that a conversation has sent. */
export interface SentIds {
  /** Returns whether a trajectory with these segments continues the conversation: it begins with the segments that were given before. */
  continues(segments: readonly SentSegment[]): boolean
  /**
   * Returns the input of a call: the ids of these segments and then `added`. Segments that were given before must be
   * the same; `added` may differ each time, since a call may fail.
   */
  input(segments: readonly SentSegment[], added: readonly number[]): Input
}

interface SentSegment {
  readonly ids: readonly number[]
}

interface Input {
  readonly ids: readonly number[]
  /**
   * Returns the JSON object of `input_ids` and these other fields; it is valid until the next call of this function or
   * of `input`.
   */
  readonly bodyWith: (others: Readonly<Record<string, unknown>>) => Uint8Array
  /** The same hash as that of inputHash. */
  readonly hash: string
}

const FIRST_ROOM = 4096
const OPEN = '{"input_ids":['

/** Starts without ids. */
export function createSentIds(): SentIds {
  /** Lists whose ids, one after the other, are those of all known segments. */
  let known: (readonly number[])[] = []
  /** The input of the last call, what it added, and the end of its JSON. */
  let last: { readonly ids: readonly number[]; readonly added: readonly number[]; readonly end: number } | undefined
  const hash = createHash('sha256')
  /** The ids of each known segment. */
  const segmentIds: (readonly number[])[] = []
  let json = Buffer.alloc(FIRST_ROOM)
  let end = json.write(OPEN, 'latin1')
  /** Writes a text of ASCII characters at an offset; returns the end offset. */
  const put = (text: string, from: number): number => {
    if (from + text.length > json.length) {
      const larger = Buffer.alloc(2 * (from + text.length))
      json.copy(larger, 0, 0, from)
      json = larger
    }
    return from + json.write(text, from, 'latin1')
  }
  const write = (numbers: readonly number[], from: number): number =>
    numbers.length === 0 ? from : put(`${from > OPEN.length ? ',' : ''}${JSON.stringify(numbers).slice(1, -1)}`, from)
  return {
    continues: (segments) => segmentIds.every((ids, index) => ids === segments[index]?.ids),
    input(segments, added) {
      for (const { ids: own } of segments.slice(segmentIds.length)) {
        segmentIds.push(own)
        hash.update(bytesOf(own))
        // What a call added is mostly the next segment. Then its list and its JSON exist already.
        if (last && own === last.added) {
          known = [last.ids]
          end = last.end
        } else {
          known.push(own)
          end = write(own, end)
        }
        last = undefined
      }
      const [first = [], ...others] = known
      const ids = first.concat(...others, added)
      const stop = write(added, end)
      last = { ids, added, end: stop }
      return {
        ids,
        bodyWith(others) {
          const length = put(`],${ascii(JSON.stringify(others)).slice(1)}`, stop)
          return json.subarray(0, length)
        },
        hash: hash.copy().update(bytesOf(added)).digest('hex'),
      }
    },
  }
}

const bytesOf =
  endianness() === 'LE' ? (ids: readonly number[]) => new Uint8Array(new Uint32Array(ids).buffer) : idBytes

/** Escapes all characters outside of ASCII, so that each character is one byte. */
const ascii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

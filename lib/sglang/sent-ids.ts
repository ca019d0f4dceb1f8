/**
 * The ids that a run sends: each call sends all that were there before and some more. Their JSON and their hash are made of what
 * is new, so that a long run does not write its whole history again at every turn.
 */
import { createHash } from 'node:crypto'
import { idBytes } from '#lib/core/input-hash.ts'

export interface SentIds {
  /**
   * The input of a call: the ids of these segments and then others. Segments that were given before must be the same; the
   * others may be different ones each time, since a call may fail.
   */
  input(segments: readonly { readonly ids: readonly number[] }[], added: readonly number[]): Input
}

interface Input {
  readonly ids: readonly number[]
  /** `ids` as JSON. Good until the next input is made. */
  readonly json: Uint8Array
  /** As inputHash gives it. */
  readonly hash: string
}

const FIRST_ROOM = 4096
const CLOSE = ']'.charCodeAt(0)

export function createSentIds(): SentIds {
  const ids: number[] = []
  const hash = createHash('sha256')
  let segmentCount = 0
  let json = Buffer.alloc(FIRST_ROOM)
  let end = json.write('[', 'latin1')
  /** Behind `from`, without a bracket; returns where it ends. */
  const write = (numbers: readonly number[], from: number): number => {
    if (numbers.length === 0) return from
    const text = JSON.stringify(numbers)
    // A comma before it and a bracket after it have room where its own brackets are not written.
    if (from + text.length > json.length) {
      const larger = Buffer.alloc(2 * (from + text.length))
      json.copy(larger, 0, 0, from)
      json = larger
    }
    const separated = from > 1 ? from + json.write(',', from, 'latin1') : from
    return separated + json.write(text.slice(1, -1), separated, 'latin1')
  }
  return {
    input(segments, added) {
      for (; segmentCount < segments.length; segmentCount++) {
        const known = segments[segmentCount]?.ids ?? []
        for (const id of known) ids.push(id)
        hash.update(idBytes(known))
        end = write(known, end)
      }
      const stop = write(added, end)
      json[stop] = CLOSE
      return {
        ids: ids.concat(added),
        json: json.subarray(0, stop + 1),
        hash: hash.copy().update(idBytes(added)).digest('hex'),
      }
    },
  }
}

/**
 * A growing trajectory for pages. It returns the same as a fold (fold.ts), but its columns are typed arrays with spare
 * capacity, so the cost of an event does not depend on the earlier tokens.
 */

import { elementAt } from '#lib/util/element-at.ts'
import type { Vocab } from '../format/trajectory.ts'
import { pack } from '../tokens/packed.ts'
import { numberAt, type ResponseView, type TopLogprobsView, type TrajectoryView } from '../tokens/trajectory-view.ts'
import { applyEvent, type RolloutEvent } from './events.ts'

/** A trajectory that grows by events, with typed columns. */
export interface Growth {
  /** Adds an event. Throws if it does not fit the events before it, which is a bug of the sender. */
  add(event: RolloutEvent): void
  /**
   * The trajectory after all events so far; undefined before the first. A returned view does not change, except for its
   * vocabulary, which is one object that grows.
   */
  readonly trajectory: TrajectoryView | undefined
}

/** Creates an empty growth. */
export function createGrowth(): Growth {
  let known: TrajectoryView | undefined
  let vocab: Record<string, Vocab[string]> = {}
  let columns: OpenColumns | undefined
  /** True if tokens have arrived that `known` does not include yet. */
  let isBehind = false

  const settled = (): TrajectoryView | undefined => {
    if (isBehind && known?.live?.open && columns)
      known = { ...known, live: { ...known.live, open: { ...known.live.open, ...columns.view() } as ResponseView } }
    isBehind = false
    return known
  }
  return {
    add(event) {
      if (event.type === 'started') {
        known = { ...pack(event.trajectory).trajectory, live: { runningCalls: {} } }
        vocab = { ...known.vocab }
        known = { ...known, vocab }
        columns = undefined
        return
      }
      if (event.type === 'tokens') {
        const open = known?.live?.open
        if (!known || open?.kind !== 'response') throw new Error('tokens arrived while no response was open')
        columns ??= createOpenColumns(open)
        columns.append(event)
        isBehind = true
        known = withSpecialIds(known, event.specialIds)
        Object.assign(vocab, event.vocab)
        return
      }
      const before = settled()
      if (event.type !== 'segment' && event.type !== 'segment-started') {
        known = applyEvent(before, event)
        return
      }
      if (before) Object.assign(vocab, event.vocab)
      known = applyEvent(before && withSpecialIds(before, event.specialIds), { ...event, vocab: {}, specialIds: [] })
      columns = undefined
    },
    get trajectory() {
      return settled()
    },
  }
}

function withSpecialIds(trajectory: TrajectoryView, added: readonly number[]): TrajectoryView {
  const { model } = trajectory
  if (added.length === 0 || !model.tokenizer) return trajectory
  const specialIds = [...model.tokenizer.specialIds, ...added]
  return { ...trajectory, model: { ...model, tokenizer: { ...model.tokenizer, specialIds } } }
}

type Arrived = Pick<ResponseView, 'ids' | 'logprobs' | 'topLogprobs' | 'mask'>

interface OpenColumns {
  append(tokens: Arrived): void
  /** Returns views of everything that arrived so far; later tokens do not change them. */
  view(): Arrived
}

/** The columns of an open response. A column that no event has brought is omitted, as in a file. */
function createOpenColumns(start: Arrived): OpenColumns {
  let count = 0
  let k = 0
  let hasLogprobs = false
  // Only a resumed response has a mask. Further tokens are sampled, so they are trained.
  const mask = start.mask && growing((length) => new Uint8Array(length).fill(1))
  if (start.mask) mask?.room(start.mask.length).set(start.mask)
  const ids = growing((length) => new Int32Array(length))
  const logprobs = growing((length) => new Float64Array(length).fill(Number.NaN))
  let topIds = alternativeIds()
  let topLogprobs = alternativeLogprobs()

  /** Makes room for more alternatives of each token; existing ones keep their positions. */
  function widen(wider: number): void {
    const before: TopLogprobsView = { k, ids: topIds.view(count * k), logprobs: topLogprobs.view(count * k) }
    k = wider
    topIds = alternativeIds()
    topLogprobs = alternativeLogprobs()
    place(before, 0, count)
  }
  function place(top: TopLogprobsView, first: number, length: number): void {
    const toIds = topIds.room((first + length) * k)
    const toLogprobs = topLogprobs.room((first + length) * k)
    for (let token = 0; token < length; token++)
      for (let column = 0; column < top.k; column++) {
        toIds[(first + token) * k + column] = elementAt(top.ids, token * top.k + column)
        toLogprobs[(first + token) * k + column] = numberAt(top.logprobs, token * top.k + column) ?? Number.NaN
      }
  }
  const columns: OpenColumns = {
    append(tokens) {
      const { length } = tokens.ids
      ids.room(count + length).set(tokens.ids, count)
      const toLogprobs = logprobs.room(count + length)
      for (let token = 0; token < length; token++)
        toLogprobs[count + token] = numberAt(tokens.logprobs, token) ?? Number.NaN
      hasLogprobs ||= tokens.logprobs !== undefined
      const top = tokens.topLogprobs
      if (top && top.k > k) widen(top.k)
      if (top) place(top, count, length)
      count += length
    },
    view: () => ({
      ids: ids.view(count),
      ...(hasLogprobs && { logprobs: logprobs.view(count) }),
      ...(k > 0 && { topLogprobs: { k, ids: topIds.view(count * k), logprobs: topLogprobs.view(count * k) } }),
      ...(mask && { mask: mask.view(count) }),
    }),
  }
  columns.append(start)
  return columns
}

const alternativeIds = () => growing((length) => new Int32Array(length).fill(-1))
const alternativeLogprobs = () => growing((length) => new Float64Array(length).fill(Number.NaN))

const FIRST_ROOM = 256

/** A column whose capacity doubles, so copying is linear in the final length. */
function growing<T extends Int32Array | Float64Array | Uint8Array>(make: (length: number) => T) {
  let whole = make(FIRST_ROOM)
  /** Returns the column with room for this many entries. */
  const room = (length: number): T => {
    if (length > whole.length) {
      const larger = make(2 ** Math.ceil(Math.log2(length)))
      larger.set(whole)
      whole = larger
    }
    return whole
  }
  return { room, view: (length: number): T => room(length).subarray(0, length) as T }
}

/**
 * A trajectory as a page watches it grow. Like a fold (fold.ts) it gives what the events so far make; its columns are typed
 * arrays with room to spare, so that an event costs what it brings, however much is there.
 */

import { elementAt } from '#lib/util/element-at.ts'
import type { Vocab } from '../format/trajectory.ts'
import { pack } from '../tokens/packed.ts'
import { numberAt, type ResponseView, type TopLogprobsView, type TrajectoryView } from '../tokens/trajectory-view.ts'
import { applyEvent, type RolloutEvent } from './events.ts'

export interface Growth {
  /** Throws when the event does not fit what came before (a broken promise of ours). */
  add(event: RolloutEvent): void
  /**
   * Undefined before the first event. One that was given stays what it was, but for its vocabulary, which is one record
   * that grows.
   */
  readonly trajectory: TrajectoryView | undefined
}

export function createGrowth(): Growth {
  let known: TrajectoryView | undefined
  let vocab: Record<string, Vocab[string]> = {}
  let columns: OpenColumns | undefined
  /** Tokens have arrived that `known` does not show yet. */
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

type Arrived = Pick<ResponseView, 'ids' | 'logprobs' | 'topLogprobs'>

interface OpenColumns {
  append(tokens: Arrived): void
  /** What has arrived so far: views that later tokens leave alone. */
  view(): Arrived
}

/** The columns of an open response; what no event has brought is left out, as in a file. */
function createOpenColumns(start: Arrived): OpenColumns {
  let count = 0
  let k = 0
  let hasLogprobs = false
  const ids = growing((length) => new Int32Array(length))
  const logprobs = growing((length) => new Float64Array(length).fill(Number.NaN))
  let topIds = alternativeIds()
  let topLogprobs = alternativeLogprobs()

  /** With room for more alternatives a token: those that are there keep their places. */
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
    }),
  }
  columns.append(start)
  return columns
}

const alternativeIds = () => growing((length) => new Int32Array(length).fill(-1))
const alternativeLogprobs = () => growing((length) => new Float64Array(length).fill(Number.NaN))

const FIRST_ROOM = 256

/** A column whose room doubles: what is copied is a constant number of times what is there. */
function growing<T extends Int32Array | Float64Array>(make: (length: number) => T) {
  let whole = make(FIRST_ROOM)
  /** The column, with room for so many entries. */
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

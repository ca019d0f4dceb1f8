/** An expression as a machine that reads bytes; its states are made when they are reached. */

import { elementAt } from '#lib/util/element-at.ts'
import type { Expression } from './syntax.ts'
import { byteSequences } from './utf8.ts'

/** States are numbers, the first is 0; below 0 nothing can match any more. */
export interface Automaton {
  step(state: number, byte: number): number
  isComplete(state: number): boolean
  /** Of places in all states reached so far: what it holds, and takes for each of them to make. */
  size(): number
  /** The same, which holds this state alone, as its first. */
  from(state: number): Automaton
}

/** Throws a SyntaxError where it is too large, or matches nothing. */
export function automatonOf(expression: Expression): Automaton {
  const parts = createParts()
  const places = parts.closure([parts.add(expression, parts.end)])
  if (places.length === 0) throw new SyntaxError('Invalid regex: it matches no text.')
  return startingAt(places, parts)
}

function startingAt(first: Places, parts: Parts): Automaton {
  const states: State[] = []
  const known = new Map<string, number>()
  let size = 0

  const stateOf = (places: Places): number => {
    if (places.length === 0) return DEAD
    const key = places.join()
    const found = known.get(key)
    if (found !== undefined) return found
    known.set(key, states.length)
    size += places.length
    return states.push({ places, classes: undefined, next: [] }) - 1
  }

  stateOf(first)
  return {
    step(number, byte) {
      const state = elementAt(states, number)
      state.classes ??= parts.classes(state.places)
      const alike = state.classes[byte] as number
      state.next[alike] ??= stateOf(parts.closure(parts.behind(state.places, byte)))
      return state.next[alike]
    },
    isComplete: (state) => elementAt(states, state).places.includes(parts.end),
    size: () => size,
    from: (state) => startingAt(elementAt(states, state).places, parts),
  }
}

const DEAD = -1

/** Of those that read a byte, and the end; in order, each once. */
type Places = Uint32Array

interface State {
  readonly places: Places
  /** Of each byte: bytes of one class lead to the same state. Found when the first is read. */
  classes: Uint16Array | undefined
  /** By the class. */
  readonly next: number[]
}

/** A place reads a byte, or is at several others at once without reading; the first is the end. */
type Place =
  | { readonly kind: 'end' }
  | { readonly kind: 'byte'; readonly first: number; readonly last: number; readonly next: number }
  | { readonly kind: 'split'; readonly to: number[] }

/** As of 2,700 times any character. The worst of so many take 0.4 s a token, in which nobody else has a turn. */
const MOST_PLACES = 50_000

type Parts = ReturnType<typeof createParts>

function createParts() {
  const places: Place[] = [{ kind: 'end' }]
  const end = 0
  const place = (one: Place): number => {
    if (places.length === MOST_PLACES) throw new SyntaxError('Invalid regex: it is too large.')
    return places.push(one) - 1
  }
  const split = (to: number[]): number => (to.length === 1 ? elementAt(to, 0) : place({ kind: 'split', to }))

  /** The place where the expression begins, if what follows begins at `next`. */
  const add = (expression: Expression, next: number): number => {
    switch (expression.kind) {
      case 'characters': {
        // Many of them end alike, with any of the bytes that go on a character.
        const own = new Map<string, number>()
        const byte = (first: number, last: number, after: number): number => {
          const key = `${first} ${last} ${after}`
          const at = own.get(key) ?? place({ kind: 'byte', first, last, next: after })
          own.set(key, at)
          return at
        }
        const sequences = expression.ranges.flatMap(byteSequences)
        return split(
          sequences.map((bytes) => bytes.reduceRight((after, [first, last]) => byte(first, last, after), next)),
        )
      }
      case 'sequence':
        return expression.parts.reduceRight((after, part) => add(part, after), next)
      case 'choice':
        return split(expression.options.map((option) => add(option, next)))
      case 'repeat': {
        const { of, least, most } = expression
        let at = next
        if (most === Number.POSITIVE_INFINITY) {
          const to = [next]
          at = place({ kind: 'split', to })
          to.push(add(of, at))
        } else for (let count = least; count < most; count++) at = split([next, add(of, at)])
        for (let count = 0; count < least; count++) {
          const begin = add(of, at)
          // Nothing, however often.
          if (begin === at) break
          at = begin
        }
        return at
      }
    }
  }

  return {
    end,
    add,
    closure(reached: readonly number[]): Places {
      const seen = new Uint8Array(places.length)
      const found: number[] = []
      const open = [...reached]
      for (let at = open.pop(); at !== undefined; at = open.pop()) {
        if (seen[at]) continue
        seen[at] = 1
        const one = elementAt(places, at)
        if (one.kind !== 'split') found.push(at)
        else for (const to of one.to) open.push(to)
      }
      return Uint32Array.from(found).sort()
    },
    behind(from: Places, byte: number): number[] {
      const reached: number[] = []
      for (const at of from) {
        const one = elementAt(places, at)
        if (one.kind === 'byte' && byte >= one.first && byte <= one.last) reached.push(one.next)
      }
      return reached
    },
    /** Of each byte: those are alike that all places read or none. */
    classes(from: Places): Uint16Array {
      const begins = new Uint8Array(257)
      for (const at of from) {
        const one = elementAt(places, at)
        if (one.kind !== 'byte') continue
        begins[one.first] = 1
        begins[one.last + 1] = 1
      }
      let alike = 0
      return Uint16Array.from({ length: 256 }, (_, byte) => {
        alike += elementAt(begins, byte)
        return alike
      })
    },
  }
}

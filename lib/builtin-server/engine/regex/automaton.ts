/** A regular expression as an automaton over bytes, whose states are created when they are reached. */

import { elementAt, uint8At } from '#lib/util/element-at.ts'
import type { RegexExpression } from './syntax.ts'
import { byteSequences } from './utf8.ts'

/** An automaton. States are numbers, the first one is 0; after a negative state nothing can match any more. */
export interface Automaton {
  step(state: number, byte: number): number
  isComplete(state: number): boolean
  /** Returns the number of places in all states reached so far, which determines its memory and its time. */
  size(): number
  /** Returns an automaton that contains only this state, as its first one. */
  from(state: number): Automaton
}

/** Returns the automaton of an expression. Throws SyntaxError if it is too large, or matches nothing. */
export function automatonOf(expression: RegexExpression): Automaton {
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

/** The places that read a byte, and the end; sorted, without duplicates. */
type Places = Uint32Array

interface State {
  readonly places: Places
  /** Class of each byte: all bytes of one class lead to the same state. Computed when the first byte is read. */
  classes: Uint16Array | undefined
  /** Next states by the class of a byte. */
  readonly next: number[]
}

/** A place that reads a byte, or that is at several others at once without reading; the first place is the end. */
type Place =
  | { readonly kind: 'end' }
  | { readonly kind: 'byte'; readonly first: number; readonly last: number; readonly next: number }
  | { readonly kind: 'split'; readonly to: number[] }

/**
 * Largest number of places, such as 2,700 repetitions of any character. The worst expression of this size takes 0.4 s for a token, during
 * which no other request runs.
 */
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

  /** Returns the place where the expression begins, if the following part begins at `next`. */
  const add = (expression: RegexExpression, next: number): number => {
    switch (expression.kind) {
      case 'characters': {
        // Many characters have the same last bytes, so their places are shared.
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
          // The repeated expression is empty, however often it is repeated.
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
    /** Returns the class of each byte: bytes that every place treats alike have the same class. */
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
        alike += uint8At(begins, byte)
        return alike
      })
    },
  }
}

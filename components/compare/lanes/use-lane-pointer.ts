import type { RefObject } from 'react'
import { spansAround } from '#components/token-view/card/spans-around.ts'
import type { PointerPosition } from '#components/token-view/grid/use-grid-drawing.ts'
import { useGridPointer } from '#components/token-view/grid/use-grid-pointer.ts'
import type { Selection } from '#components/token-view/selection.ts'
import type { ComparedSides } from '#lib/analysis/compare/compare-sides.ts'
import { shiftedSpan, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { spotOf } from './lane-keys.ts'
import type { LaneSelection } from './lanes-picture.ts'
import { driftOfToken, type Pairing, runOfDrift, type Spot } from './pairing.ts'

interface LanePointerOptions {
  readonly compared: ComparedSides
  readonly pairing: Pairing
  readonly viewport: RefObject<HTMLElement | null>
  readonly spotUnder: (place: PointerPosition) => Spot | undefined
  readonly scrollBy: (pixels: number) => void
  readonly chosen: LaneSelection | undefined
  /** Called with the chosen tokens; `drift` is the span of a single chosen token. */
  readonly onChoose: (chosen: LaneSelection | undefined, drift?: number) => void
  /** Called immediately with the token under the pointer. */
  readonly onMove: (spot: Spot | undefined) => void
  /** Called with the drift span after the pointer has rested on it. */
  readonly onPoint: (drift: number | undefined) => void
}

/** Returns the pointer handlers of the lanes. */
export function useLanePointer(options: LanePointerOptions) {
  const { compared, pairing, viewport, spotUnder, scrollBy, chosen, onChoose, onMove, onPoint } = options
  // The pointer handling numbers the tokens of both sides in sequence: those of the right follow those of the left.
  const leftCount = tokenCount(compared.left.trajectory)
  const numberOf = ({ side, token }: Spot) => (side === 'left' ? token : leftCount + token)
  const spotNumbered = (number: number): Spot =>
    number < leftCount ? { side: 'left', token: number } : { side: 'right', token: number - leftCount }
  const chooseNumbers = (numbers: Selection | undefined) => {
    if (!numbers) {
      onChoose(undefined)
      return
    }
    const [anchor, focus] = [spotNumbered(numbers.anchor), spotNumbered(numbers.focus)]
    // A choice cannot extend to the other side.
    if (anchor.side !== focus.side) return
    const tokens = { side: anchor.side, anchor: anchor.token, focus: focus.token }
    onChoose(tokens, anchor.token === focus.token ? driftOfToken(pairing, focus) : undefined)
  }
  const spansAroundNumber = (number: number) => {
    const spot = spotNumbered(number)
    const drift = driftOfToken(pairing, spot)
    const around = spansAround(compared[spot.side].trajectory, spot.token)
    const all = drift === undefined ? around : [runOfDrift(pairing, drift)?.[spot.side] ?? [], around].flat()
    const before = spot.side === 'left' ? 0 : leftCount
    return all.map((span) => shiftedSpan(span, before))
  }
  return useGridPointer({
    viewport,
    scrollBy,
    tokenUnder: (place) => {
      const spot = spotUnder(place)
      return spot && numberOf(spot)
    },
    spansAround: spansAroundNumber,
    selection: chosen && {
      anchor: numberOf({ side: chosen.side, token: chosen.anchor }),
      focus: numberOf(spotOf(chosen)),
    },
    onSelect: chooseNumbers,
    onMove: (number) => onMove(number === undefined ? undefined : spotNumbered(number)),
    onPoint: (number) => onPoint(number === undefined ? undefined : driftOfToken(pairing, spotNumbered(number))),
  })
}

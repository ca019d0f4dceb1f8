import { type Colouring, colouringOf } from '#components/token-view/colour/colouring.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/**
 * Returns the colouring of a side on the scale of the left, which the colour bar shows, so that one colour is one value. If
 * the left has no such numbers, or if colours are names, each side has its own scale.
 */
export function sharedColouring(left: TrajectoryView, trajectory: TrajectoryView, colour: string): Colouring {
  const ofLeft = colouringOf(left, colour)
  return ofLeft.scale.kind === 'number' && ofLeft.scale.known > 0 ? ofLeft : colouringOf(trajectory, colour)
}

import { type Colouring, colouringOf } from '#components/token-view/colour/colouring.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/**
 * Numbers of both sides on the scale of the left, which the colour bar shows: one colour is one value. Where the left has no
 * such numbers, and where colours are names, each side has its own.
 */
export function sharedColouring(left: TrajectoryView, trajectory: TrajectoryView, colour: string): Colouring {
  const ofLeft = colouringOf(left, colour)
  return ofLeft.scale.kind === 'number' && ofLeft.scale.known > 0 ? ofLeft : colouringOf(trajectory, colour)
}

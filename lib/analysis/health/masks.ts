/** Checks the loss mask with the lints of the mask doctor. */
import { SHORT_LINTS } from '#lib/templates/loss-mask/finding.ts'
import { maskLints } from '#lib/templates/loss-mask/lints.ts'
import type { HealthCheck } from './check.ts'

/** Reports each lint of the loss mask as a finding. */
export const checkMasks: HealthCheck = (trajectory) => ({
  findings: maskLints(trajectory).map(({ kind, severity, text, remedy, places }) => ({
    kind: 'mask',
    severity,
    label: places.length > 1 ? `${SHORT_LINTS[kind]} (${places.length})` : SHORT_LINTS[kind],
    message: text,
    count: Math.max(1, places.length),
    places: places.map(({ start, end }) => ({ start, end })),
    remedy,
  })),
})

import { DEFAULT_BUDGET } from '#lib/templates/jinja/budget.ts'
import type { RenderLimits } from '#lib/templates/jinja/rendering.ts'

/** Limits of a render while somebody waits at the keyboard. The longest real conversations take a tenth of the time. */
export const LIVE_BUDGET: RenderLimits = { ...DEFAULT_BUDGET, milliseconds: 1_000 }

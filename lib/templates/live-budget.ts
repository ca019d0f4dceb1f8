import { DEFAULT_BUDGET } from '#lib/templates/jinja/budget.ts'
import type { Budget } from '#lib/templates/jinja/rendering.ts'

/** What a render may take while somebody waits for it at the keyboard. The longest real conversations take a tenth of it. */
export const LIVE_BUDGET: Budget = { ...DEFAULT_BUDGET, milliseconds: 1_000 }

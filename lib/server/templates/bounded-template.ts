/** Limits the budget of a render of a request's template, however large a budget the caller passes. */

import type { CompiledTemplate } from '#lib/templates/chat-template.ts'
import { DEFAULT_BUDGET } from '#lib/templates/jinja/budget.ts'
import type { RenderLimits } from '#lib/templates/jinja/rendering.ts'
import { processorClock } from '#lib/time-limit/processor-clock.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'

/** The text may have twice the length of the longest context. It is encoded in one piece, which takes 2 to 13 s at that length. */
const RENDER_BUDGET: RenderLimits = { ...DEFAULT_BUDGET, size: 2_000_000, milliseconds: 1_000 }

/** Returns the template with a limited budget; the same template gives the same result. */
export const boundedTemplate: (template: CompiledTemplate) => CompiledTemplate = memoizeByIdentity((template) => ({
  text: template.text,
  render: (input, budget) => template.render(input, within(budget)),
  trace: (input, budget) => template.trace(input, within(budget)),
}))

/** Time is processor time: on a busy machine a template of milliseconds would reach the limit while other processes run. */
function within(budget: RenderLimits = RENDER_BUDGET): RenderLimits {
  const milliseconds = Math.min(budget.milliseconds, RENDER_BUDGET.milliseconds)
  const size = Math.min(budget.size, RENDER_BUDGET.size)
  return { ...budget, size, milliseconds, now: budget.now ?? processorClock(milliseconds) }
}

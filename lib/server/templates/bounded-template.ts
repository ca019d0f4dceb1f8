/** Templates of requests: what a render of theirs may take, however large the budget is that somebody gives it. */

import type { CompiledTemplate } from '#lib/templates/chat-template.ts'
import { DEFAULT_BUDGET } from '#lib/templates/jinja/budget.ts'
import type { Budget } from '#lib/templates/jinja/rendering.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'

/** The text has twice the length of the longest context: it is encoded at one go, 2 to 13 s at that length. */
const RENDER_BUDGET: Budget = { ...DEFAULT_BUDGET, size: 2_000_000, milliseconds: 1_000 }

export const boundedTemplate: (template: CompiledTemplate) => CompiledTemplate = memoizeByIdentity((template) => ({
  text: template.text,
  render: (input, budget) => template.render(input, within(budget)),
  trace: (input, budget) => template.trace(input, within(budget)),
}))

const within = (budget: Budget = RENDER_BUDGET): Budget => ({
  ...budget,
  size: Math.min(budget.size, RENDER_BUDGET.size),
  milliseconds: Math.min(budget.milliseconds, RENDER_BUDGET.milliseconds),
})

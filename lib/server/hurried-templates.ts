/** Templates of requests: they render in the thread that serves everybody. */
import { type CompiledTemplate, TemplateError } from '#lib/templates/chat-template.ts'
import { DEFAULT_BUDGET } from '#lib/templates/jinja/budget.ts'
import type { Budget } from '#lib/templates/rendering.ts'

/** Twice the longest context: its text is encoded at one go, 2 to 3 s at that length. */
const RENDER_BUDGET: Budget = { ...DEFAULT_BUDGET, size: 2_000_000, milliseconds: 1_000 }

/** Between two turns of the event loop: a diagnosis renders a hundred times in a row. */
const LONGEST_TURN_MS = 3_000

interface Turns {
  /** Milliseconds of any clock that does not go back. */
  readonly now: () => number
  /** Calls back once others have been served. */
  readonly afterTurn: (callback: () => void) => void
}

/** For the templates of one request together. */
export function hurrying(
  { now, afterTurn }: Turns = { now: () => performance.now(), afterTurn: setImmediate },
): (template: CompiledTemplate) => CompiledTemplate {
  let began: number | undefined
  const withinTurn = (): void => {
    if (began === undefined) {
      began = now()
      afterTurn(() => {
        began = undefined
      })
    }
    if (now() - began > LONGEST_TURN_MS)
      throw new TemplateError(`the templates took longer than ${LONGEST_TURN_MS} ms at one go`, {
        className: 'BudgetError',
      })
  }
  return (template) => {
    const trace: CompiledTemplate['trace'] = (input, { steps, size, milliseconds } = RENDER_BUDGET) => {
      withinTurn()
      return template.trace(input, {
        steps,
        size: Math.min(size, RENDER_BUDGET.size),
        milliseconds: Math.min(milliseconds, RENDER_BUDGET.milliseconds),
      })
    }
    return { text: template.text, trace, render: (input) => trace(input).text }
  }
}

/** Counts what a render uses and ends the render when it exceeds its budget. */

import { PyError } from './python/values.ts'
import type { RenderLimits } from './rendering.ts'

/**
 * The default limits of a render. A conversation of 200,000 tokens is a million characters and takes the largest templates some 2 million
 * steps and 100 ms.
 */
export const DEFAULT_BUDGET: RenderLimits = { steps: 50_000_000, size: 8_000_000, milliseconds: 5_000 }

/** Limit of everything that one render makes in total, in multiples of the largest text, so that what it keeps fits in memory. */
const WHOLE = 8
/** Share of a sum of texts that is charged: JavaScript keeps the sum as its parts until something reads it. */
const SHARE_OF_SUM = 1 / 4
/** UTF-16 units or list entries that cost as much as one step. */
const SIZE_OF_STEP = 64
/**
 * Steps between two reads of the clock. Every charge adds STEPS_OF_CALL, because it may be a search in the longest text, which takes 10 ms.
 */
const STEPS_BETWEEN_LOOKS = 512
const STEPS_OF_CALL = 64
/** Measured value. The duration of a charge is added to the time when it is charged, before the work is done. */
const STEPS_PER_MILLISECOND = 20_000

/** Charges the steps and sizes of one render. Throws PyError (BudgetError) beyond the budget. */
export class Meter {
  private readonly budget: RenderLimits
  private readonly now: () => number
  private readonly deadline: number
  private steps = 0
  private stepsSinceLook = 0
  private madeCharacters = 0

  /** `now` returns the milliseconds of any clock that does not go back. */
  constructor(budget: RenderLimits, now: () => number) {
    this.budget = budget
    this.now = now
    this.deadline = now() + budget.milliseconds
  }

  step(count = 1): void {
    this.steps += count
    this.stepsSinceLook += count + STEPS_OF_CALL
    if (this.stepsSinceLook >= STEPS_BETWEEN_LOOKS) this.look(count)
  }

  allocate(size: number): void {
    this.within(size)
    this.madeCharacters += size
    if (this.madeCharacters > WHOLE * this.budget.size)
      throw over(`made more than ${WHOLE * this.budget.size} characters and list entries in all`)
    this.step(1 + size / SIZE_OF_STEP)
  }

  /** Charges the sum of two texts, which costs less than other allocations. */
  join(size: number): void {
    this.within(size)
    this.allocate(size * SHARE_OF_SUM)
  }

  /** Checks the length of a text that was charged while it grew. */
  within(size: number): void {
    if (size > this.budget.size) throw over(`made a text or list longer than ${this.budget.size} characters or entries`)
  }

  private look(charged: number): void {
    if (this.steps > this.budget.steps) throw over(`took more than ${this.budget.steps} steps`)
    if (this.now() + charged / STEPS_PER_MILLISECOND > this.deadline)
      throw over(`took longer than ${this.budget.milliseconds} ms`)
    this.stepsSinceLook = 0
  }
}

const over = (what: string): PyError => new PyError('BudgetError', `the template ${what}`)

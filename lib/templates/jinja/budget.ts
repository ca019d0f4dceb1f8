/** What a render uses, held against what it may use. */

import { PyError } from './python/values.ts'
import type { Budget } from './rendering.ts'

/**
 * A conversation of 200,000 tokens is a million characters, and takes the largest templates some 2 million steps and
 * 100 ms.
 */
export const DEFAULT_BUDGET: Budget = { steps: 50_000_000, size: 8_000_000, milliseconds: 5_000 }

/** All that is made in one render together, in multiples of the largest text: what is kept stays within memory. */
const WHOLE = 8
/** JavaScript keeps a sum of texts as its parts until something looks into it. */
const SHARE_OF_SUM = 1 / 4
/** UTF-16 units or entries that cost as much as one step. */
const SIZE_OF_STEP = 64
/** Between two looks at the clock; a call counts as some, since it may be a search in the longest text: 10 ms. */
const STEPS_BETWEEN_LOOKS = 512
const STEPS_OF_CALL = 64
/** Measured; what is charged at once takes its time at once. */
const STEPS_PER_MILLISECOND = 20_000

export class Meter {
  private readonly budget: Budget
  private readonly now: () => number
  private readonly deadline: number
  private steps = 0
  private stepsSinceLook = 0
  private made = 0

  /** `now`: milliseconds of any clock that does not go back. */
  constructor(budget: Budget, now: () => number) {
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
    this.made += size
    if (this.made > WHOLE * this.budget.size)
      throw over(`made more than ${WHOLE * this.budget.size} characters and list entries in all`)
    this.step(1 + size / SIZE_OF_STEP)
  }

  /** As allocate, for the sum of two texts. */
  join(size: number): void {
    this.within(size)
    this.allocate(size * SHARE_OF_SUM)
  }

  /** For a text that grows, and was charged as it grew. */
  within(size: number): void {
    if (size > this.budget.size) throw over(`made a text or list longer than ${this.budget.size}`)
  }

  private look(charged: number): void {
    if (this.steps > this.budget.steps) throw over(`took more than ${this.budget.steps} steps`)
    if (this.now() + charged / STEPS_PER_MILLISECOND > this.deadline)
      throw over(`took longer than ${this.budget.milliseconds} ms`)
    this.stepsSinceLook = 0
  }
}

const over = (what: string): PyError => new PyError('BudgetError', `the template ${what}`)

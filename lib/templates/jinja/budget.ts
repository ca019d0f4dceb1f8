/** What a render uses, held against what it may use. */
import type { Budget } from '../rendering.ts'
import { PyError } from './values.ts'

/**
 * A conversation of 200,000 tokens is a million characters and takes the largest templates some 2 million steps and
 * 100 ms.
 */
export const DEFAULT_BUDGET: Budget = { steps: 50_000_000, size: 16_000_000, milliseconds: 5_000 }

/** All that is made in one render together, in multiples of the largest text: what is kept stays within memory. */
const WHOLE = 8
/** Steps between two looks at the clock. A step may be a search in the longest text: milliseconds. */
const STEPS_BETWEEN_LOOKS = 128
/** UTF-16 units or entries that cost as much as one step. */
const SIZE_OF_STEP = 64

export class Meter {
  private readonly budget: Budget
  private readonly now: () => number
  private readonly deadline: number
  private steps = 0
  private nextLook = STEPS_BETWEEN_LOOKS
  private made = 0

  /** `now`: milliseconds of any clock that does not go back. */
  constructor(budget: Budget, now: () => number) {
    this.budget = budget
    this.now = now
    this.deadline = now() + budget.milliseconds
  }

  step(count = 1): void {
    this.steps += count
    if (this.steps >= this.nextLook) this.look()
  }

  allocate(size: number): void {
    this.within(size)
    this.made += size
    if (this.made > WHOLE * this.budget.size)
      throw over(`made more than ${WHOLE * this.budget.size} characters and list entries in all`)
    this.step(1 + size / SIZE_OF_STEP)
  }

  /** For a text that shares its letters with those it is made of, and so takes no memory of its own. */
  within(size: number): void {
    if (size > this.budget.size) throw over(`made a text or list longer than ${this.budget.size}`)
  }

  private look(): void {
    this.nextLook = this.steps + STEPS_BETWEEN_LOOKS
    if (this.steps > this.budget.steps) throw over(`took more than ${this.budget.steps} steps`)
    if (this.now() > this.deadline) throw over(`took longer than ${this.budget.milliseconds} ms`)
  }
}

const over = (what: string): PyError => new PyError('BudgetError', `the template ${what}`)

/** What the thread that compares paths with a chat pipeline receives and returns. */
import { type PipelineSavings, savingsOf } from '#lib/session/forest/chat-pipeline.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { LimitedThread } from '../../limited-thread.ts'

/** A path of a session, and what a chat pipeline sends in its place. */
export interface SavingsQuestion {
  /** The trajectory of the path. Its vocabulary has the tokens of the prompts. */
  readonly path: TrajectoryView
  /** Token ids of the prompt before each response. */
  readonly prompts: readonly Int32Array[]
}

/** What the path saved. */
export type SavingsCounts = Omit<PipelineSavings, 'report'>

/** The thread that compares paths. */
export type SavingsThread = LimitedThread<SavingsQuestion, SavingsCounts>

/** Returns what a path saved. */
export function answerSavings({ path, prompts }: SavingsQuestion): SavingsCounts {
  const { report: _, ...counts } = savingsOf(
    path,
    prompts.map((prompt) => Array.from(prompt)),
  )
  return counts
}

/** What the thread that compares paths with a chat pipeline receives and returns. */
import type { SavedCounts } from '#lib/api/sessions/savings.ts'
import { savingsOf } from '#lib/session/forest/chat-pipeline.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { LimitedThread } from '../../limited-thread.ts'

/** A path of a session, and what a chat pipeline sends in its place. */
export interface SavingsQuestion {
  /** The trajectory of the path. Its vocabulary has the tokens of the prompts. */
  readonly path: TrajectoryView
  /** Token ids of the prompt before each response. */
  readonly prompts: readonly Int32Array[]
}

/** The thread that compares paths. */
export type SavingsThread = LimitedThread<SavingsQuestion, SavedCounts>

/** Returns what a path saved. */
export function answerSavings({ path, prompts }: SavingsQuestion): SavedCounts {
  const { report: _, ...counts } = savingsOf(
    path,
    prompts.map((prompt) => Array.from(prompt)),
  )
  return counts
}

/** Messages between the server and the thread that builds the trees of groups. */
import type { GroupFacts } from '#lib/analysis/group/group-forest.ts'

/** Data that the thread receives when it starts. */
export interface ForestWorkerStart {
  readonly dataFolder: string
}

/** A request for the trees of samples. */
export interface ForestQuestion extends Omit<GroupFacts, 'findings'> {
  /** How often the record of each of the `rows` was written. */
  readonly revisions: readonly number[]
}

/** The reply of the thread. */
export interface ForestReply {
  /** The answer as JSON, which the server's thread passes on unread. */
  readonly text: string
  /** Keys of long records that have no packed copy. */
  readonly withoutCopy: readonly string[]
}

/**
 * Commits changes of several runs together, because every commit waits for the disk and blocks the process meanwhile.
 */
import type { DatabaseSync } from 'node:sqlite'
import { whenUnlocked } from './lock.ts'
import { transaction } from './transaction.ts'

/** Changes that share a commit. */
export interface GroupCommit {
  /**
   * Runs a change in one transaction with all others of this turn of the event loop, in their order. Resolves with its result
   * when it is on disk. Rejects with its error; the other changes are stored nevertheless. If the transaction fails, the
   * change runs again in its own, so it must have no other effect than on the database. Changes wait for a locked database without blocking
   * the process.
   */
  groupCommit<T>(change: () => T): Promise<T>
  /** Runs a change in a transaction now. Throws its error. */
  commitNow<T>(change: () => T): T
  /** Commits the waiting changes now. */
  commitWaiting(): void
}

interface Waiting {
  readonly change: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Milliseconds after which a transaction takes no further change: with 50 sessions, changes of one turn took seconds. */
const LONGEST_MS = 50

/** Creates the functions for a connection. */
export function createGroupCommit(database: DatabaseSync): GroupCommit {
  let waiting: Waiting[] = []
  const commitFirst = (longestMs: number) => {
    if (waiting.length === 0) return
    const settles = committed(database, waiting, longestMs)
    waiting = waiting.slice(settles.length)
    for (const settle of settles) settle()
  }
  const commitUnlocked = async () => {
    try {
      await whenUnlocked(database)
      commitFirst(LONGEST_MS)
      if (waiting.length > 0) setImmediate(commitUnlocked)
    } catch (error) {
      const changes = waiting
      waiting = []
      for (const { reject } of changes) reject(error)
    }
  }
  return {
    groupCommit: <T>(change: () => T) =>
      new Promise<T>((resolve, reject) => {
        // The changes of all sockets that are readable in this turn arrive before its immediates.
        if (waiting.length === 0) setImmediate(commitUnlocked)
        waiting.push({ change, resolve: (value) => resolve(value as T), reject })
      }),
    commitNow: (change) => transaction(database, change),
    commitWaiting: () => commitFirst(Number.POSITIVE_INFINITY),
  }
}

/** Stores the first changes, for about `longestMs`, and returns the functions that settle their promises. */
function committed(database: DatabaseSync, changes: readonly Waiting[], longestMs: number): readonly (() => void)[] {
  let hasBegun = false
  try {
    return transaction(database, () => {
      hasBegun = true
      const endMs = performance.now() + longestMs
      const settles: (() => void)[] = []
      for (const one of changes) {
        if (settles.length > 0 && performance.now() > endMs) break
        settles.push(outcomeOf(database, one, () => database.isTransaction))
      }
      return settles
    })
  } catch (error) {
    // Without a transaction, such as of a locked database, no change would succeed, and each would wait for the lock.
    if (!hasBegun)
      return changes.map(
        ({ reject }) =>
          () =>
            reject(error),
      )
    // The full disk or the failed commit may have been due to one change only.
    return changes.map((one) => outcomeOf(database, one, () => true))
  }
}

/** Runs a change in its own transaction. Throws its error unless `isKept` says that the changes before it are not lost. */
function outcomeOf(database: DatabaseSync, { change, resolve, reject }: Waiting, isKept: () => boolean): () => void {
  try {
    const value = transaction(database, change)
    return () => resolve(value)
  } catch (error) {
    if (!isKept()) throw error
    return () => reject(error)
  }
}

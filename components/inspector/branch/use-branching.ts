/** Starts branches of a trajectory, and follows those that this page started last. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { BranchBody, BranchesStarted } from '#lib/api/forest/branch.ts'
import type { Tree } from '#lib/api/forest/tree.ts'
import { ApiError } from '#lib/browser/api.ts'
import { cancelBranches, startBranches, startedOptions, treeOptions } from '#lib/browser/library/branches.ts'

/** Why branches did not start: the wrong field of the request if it is known, what happened, and what to do. */
export interface BranchFailure {
  readonly field: string | undefined
  readonly title: string
  readonly hint: string | undefined
}

/** The branches that were started last, with how many of them have ended and how many tokens they have sampled. */
export interface BranchProgress extends BranchesStarted {
  readonly isRunning: boolean
  readonly ended: number
  readonly spent: number
}

/** Returns functions that start and stop branches, and their progress, which is kept when another token is selected. */
export function useBranching(storedKey: string) {
  const client = useQueryClient()
  const [isStarting, setIsStarting] = useState(false)
  const { data: started } = useQuery(startedOptions(storedKey))
  const { data: tree } = useQuery(treeOptions(storedKey))
  /** Returns undefined if the branches have started, and otherwise why not. */
  const start = async (body: BranchBody): Promise<BranchFailure | undefined> => {
    setIsStarting(true)
    try {
      client.setQueryData(startedOptions(storedKey).queryKey, await startBranches(storedKey, body, client))
      return undefined
    } catch (error) {
      return failureOf(error)
    } finally {
      setIsStarting(false)
    }
  }
  const cancel = async (): Promise<BranchFailure | undefined> => {
    try {
      await cancelBranches(started?.rollouts ?? [])
      return undefined
    } catch (error) {
      return failureOf(error)
    }
  }
  return { isStarting, start, cancel, progress: started ? progressOf(started, tree) : undefined }
}

function failureOf(error: unknown): BranchFailure {
  if (!(error instanceof ApiError)) throw error
  return { field: error.field, title: error.message, hint: error.hint }
}

function progressOf(started: BranchesStarted, tree: Tree | undefined): BranchProgress {
  const own = tree?.leaves.filter(({ row }) => started.keys.includes(row.key)) ?? []
  const running = own.filter(({ row }) => row.outcomeKind === 'running').length
  return {
    ...started,
    // A new tree is requested when branches start, and until it is there they are running.
    isRunning: running > 0 || (own.length === 0 && started.rollouts.length > 0),
    ended: own.length - running,
    spent: own.reduce((sum, { row }) => sum + Math.max(0, row.tokens - started.shared), 0),
  }
}

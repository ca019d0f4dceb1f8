'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigation } from '#components/shell/navigation.tsx'
import { Button } from '#components/ui/button.tsx'
import { ApiError } from '#lib/browser/api.ts'
import { startBranches } from '#lib/browser/library/branches.ts'
import { resumeObstacle } from '#lib/trajectory/messages/resumable.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

interface ResumeBranchProps {
  readonly trajectory: TrajectoryView
  readonly storedKey: string
}

/** Resumes an interrupted response in a branch, and opens the branch. Shows nothing if the last response cannot be resumed. */
export function ResumeBranch({ trajectory, storedKey }: ResumeBranchProps) {
  const client = useQueryClient()
  const { go } = useNavigation()
  const [isStarting, setIsStarting] = useState(false)
  const [problem, setProblem] = useState<string>()
  const resume = async () => {
    if (isStarting) return
    setIsStarting(true)
    setProblem(undefined)
    try {
      const { keys } = await startBranches(storedKey, { at: tokenCount(trajectory), n: 1 }, client)
      await go(`/t/${encodeURIComponent(keys[0] ?? storedKey)}`)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setProblem([error.message, error.hint].filter(Boolean).join('. '))
    } finally {
      setIsStarting(false)
    }
  }
  if (resumeObstacle(trajectory) !== undefined) return null
  return (
    <>
      <Button
        disabled={isStarting}
        title="The model continues the response from its own tokens, in a new trajectory."
        onClick={resume}
      >
        Resume as branch
      </Button>
      {problem !== undefined && (
        <p role="alert" className="basis-full text-bad">
          {problem}
        </p>
      )}
    </>
  )
}

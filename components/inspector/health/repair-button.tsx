'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStableFocus } from '#components/ui/button.tsx'
import { ApiError } from '#lib/browser/api.ts'
import { repairTrajectory, TRAJECTORIES, trajectoryOptions } from '#lib/browser/queries.ts'
import type { RepairOffer } from '#lib/trajectory/health/health.ts'

interface RepairButtonProps {
  readonly storedKey: string
  /** The repair, with the text of the button. */
  readonly repair: RepairOffer
  /** Undoes the repair instead. */
  readonly isUndo?: boolean
  /** Called after the trajectory was changed. */
  readonly onDone: () => void
}

/** Button that repairs the stored trajectory, or undoes a repair, and shows the result. */
export function RepairButton({ storedKey, repair, isUndo = false, onDone }: RepairButtonProps) {
  const client = useQueryClient()
  const [state, setState] = useState<'ready' | 'running' | ApiError>('ready')
  const apply = async () => {
    setState('running')
    try {
      const trajectory = await repairTrajectory(storedKey, { name: repair.name, ...(isUndo && { undo: true }) })
      client.setQueryData(trajectoryOptions(storedKey).queryKey, trajectory)
      void client.invalidateQueries({ queryKey: TRAJECTORIES })
      onDone()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setState(error)
    }
  }
  return (
    <>
      {state instanceof ApiError && (
        <span role="alert" className="py-1 text-bad">
          {state.message}
        </span>
      )}
      <button
        className="shrink-0 py-1 font-medium text-accent hover:underline"
        {...useStableFocus({ disabled: state === 'running', onClick: apply })}
      >
        {repair.title}
      </button>
    </>
  )
}

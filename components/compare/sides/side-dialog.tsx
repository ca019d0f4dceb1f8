'use client'
import { Dialog } from '#components/ui/dialog.tsx'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import { TrajectoryPicker } from './trajectory-picker.tsx'

interface SideDialogProps {
  readonly name: SideName
  /** The other side; `groupId` is undefined if it is not a sample of a group. */
  readonly beside: { readonly key: string; readonly groupId: string | undefined } | undefined
  readonly onChoose: (key: string) => void
  readonly onClose: () => void
}

/** Dialog that chooses the trajectory of a side. */
export function SideDialog({ name, beside, onChoose, onClose }: SideDialogProps) {
  return (
    <Dialog title={`The ${name} side`} onClose={onClose}>
      <TrajectoryPicker beside={beside} onChoose={onChoose} />
    </Dialog>
  )
}

'use client'
import { Dialog } from '#components/ui/dialog.tsx'
import type { SideName } from '#lib/compare/compare-sides.ts'
import { TrajectoryPicker } from './trajectory-picker.tsx'

interface SideDialogProps {
  readonly name: SideName
  readonly onChoose: (key: string) => void
  readonly onClose: () => void
}

export function SideDialog({ name, onChoose, onClose }: SideDialogProps) {
  return (
    <Dialog title={`The ${name} side`} onClose={onClose}>
      <TrajectoryPicker onChoose={onChoose} />
    </Dialog>
  )
}

import type { ServerEntry } from '#lib/api/server-status.ts'
import { Banner } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

interface RemoveDialogProps {
  readonly server: ServerEntry
  /** Error of the last attempt. */
  readonly problem: { readonly message: string; readonly hint?: string | undefined } | undefined
  readonly onRemove: () => void
  readonly onClose: () => void
}

/** Asks before a server is removed: its key is deleted and cannot be restored, so there is no undo. */
export function RemoveDialog({ server: { name, baseUrl, hasKey }, problem, onRemove, onClose }: RemoveDialogProps) {
  return (
    <Dialog title={`Remove ${name}?`} onClose={onClose}>
      <div className="grid gap-4">
        {problem && <Banner tone="bad" title={problem.message} hint={problem.hint} />}
        <p>
          <span className="font-mono [overflow-wrap:anywhere]">{baseUrl}</span>
          {hasKey ? ' and its key are deleted. The key cannot be restored.' : ' is deleted.'} Its trajectories are kept.
        </p>
        <div className="flex gap-2">
          <Button look="primary" onClick={onRemove}>
            Remove
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  )
}

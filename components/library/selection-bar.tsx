import { compareBothHref, MOST_IN_ADDRESS, reportOfKeysHref, treeOfKeysHref } from '#components/shell/hrefs.ts'
import { useNavigation } from '#components/shell/navigation.tsx'
import { Button } from '#components/ui/button.tsx'
import type { Removal } from '#lib/browser/library/removals.ts'
import { whenText } from '#lib/util/text/times.ts'

/** Age in milliseconds from which the message of a deletion has its time, because the user may not remember it. */
const RECENT_MS = 60_000

interface SelectionBarProps {
  /** Keys of the selected trajectories. */
  readonly chosen: ReadonlySet<string>
  /** The deletion that the next undo restores; undefined if there is nothing to undo. */
  readonly undoable: Removal | undefined
  readonly onExport: (keys: readonly string[]) => void
  readonly onRemove: (keys: readonly string[]) => void
  readonly onClear: () => void
  readonly onUndo: () => void
  /** Hides the offer to undo. */
  readonly onDismiss: () => void
}

/** Shows the actions for the selected trajectories, and the undo of the last deletion. */
export function SelectionBar({ chosen, undoable, onExport, onRemove, onClear, onUndo, onDismiss }: SelectionBarProps) {
  const { go } = useNavigation()
  const [first, second] = chosen
  const now = new Date()
  return (
    <div className="flex flex-wrap items-center gap-2 border-line border-t bg-panel px-3.5 py-2">
      {chosen.size > 0 && (
        <>
          <span className="mr-1 font-medium">{chosen.size} selected</span>
          <Button onClick={() => onExport([...chosen])}>Export…</Button>
          {chosen.size === 2 && first !== undefined && second !== undefined && (
            <Button onClick={() => go(compareBothHref(first, second))}>Compare</Button>
          )}
          {chosen.size > 1 && chosen.size <= MOST_IN_ADDRESS && (
            <Button onClick={() => go(treeOfKeysHref([...chosen]))}>Open as tree</Button>
          )}
          {chosen.size <= MOST_IN_ADDRESS && (
            <Button onClick={() => go(reportOfKeysHref([...chosen]))}>Drift report of these</Button>
          )}
          <Button onClick={() => onRemove([...chosen])}>Delete</Button>
          <Button look="quiet" onClick={onClear}>
            Clear
          </Button>
        </>
      )}
      <span className="flex-1" />
      {undoable !== undefined && (
        <>
          <span role="status">
            {undoable.keys.length} deleted
            {now.getTime() - undoable.at > RECENT_MS && `, ${whenText(new Date(undoable.at).toISOString(), now)}`}.
          </span>
          <Button onClick={onUndo}>Undo</Button>
          <Button
            look="quiet"
            title="The trajectories stay deleted, and each can be restored at its address for a day"
            onClick={onDismiss}
          >
            Dismiss
          </Button>
        </>
      )}
    </div>
  )
}

import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { ExportDialog } from '#components/export/export-dialog.tsx'
import { OfflineExport } from '#components/export/offline-export.tsx'
import type { Group } from '#lib/api/group.ts'
import { groupOptions } from '#lib/browser/queries.ts'
import { countForced } from '#lib/trajectory/tokens/forced-tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { TokensTarget } from './shell-actions.ts'

interface TrajectoryExportProps extends Pick<ComponentProps<typeof ExportDialog>, 'choices' | 'onClose'> {
  readonly trajectory: TrajectoryView | undefined
  /** Key of the trajectory; undefined if it is not stored. */
  readonly storedKey: string | undefined
  /** The tokens of the page, for the offline page. */
  readonly tokens: TokensTarget | undefined
  readonly onError: (reason: unknown) => void
}

/** Dialog that exports the trajectory of the page. */
export function TrajectoryExport({ choices, trajectory, storedKey, tokens, onClose, onError }: TrajectoryExportProps) {
  const { data: group } = useQuery(groupOptions(storedKey === undefined ? undefined : trajectory?.group?.id))
  return (
    <ExportDialog
      title="Export the trajectory"
      choices={choices}
      hasForced={trajectory !== undefined && countForced(trajectory) > 0}
      offersAdvantage={storedKey !== undefined && group !== undefined && hasAdvantage(group, storedKey)}
      onClose={onClose}
    >
      {trajectory && <OfflineExport trajectory={trajectory} tokens={tokens} onClose={onClose} onError={onError} />}
    </ExportDialog>
  )
}

/** Returns whether a sample has an advantage: it and another sample of its group have rewards. */
function hasAdvantage({ samples }: Group, key: string): boolean {
  const scored = samples.filter(({ reward }) => reward !== null)
  return scored.length > 1 && scored.some((sample) => sample.key === key)
}

import { useNavigation } from '#components/shell/navigation.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { useLibrary } from '#lib/browser/library/use-library.ts'
import { LabelsForm } from './labels-form.tsx'
import { GroupFacts } from './rows/group-facts.tsx'
import { RowFacts } from './rows/row-facts.tsx'
import type { TableEntry } from './rows/table-entries.ts'
import { groupHref } from './rows/trajectory-table.tsx'
import { type LibraryList, MOST_SAMPLES } from './use-library-list.ts'
import type { ListFocus } from './use-list-focus.ts'

interface DetailsPanelProps {
  readonly list: LibraryList
  readonly focus: ListFocus
  readonly onOpen: (key: string) => void
  readonly onRemove: (keys: readonly string[]) => void
  readonly onExport: (keys: readonly string[]) => void
  /** Lists only the samples of a group. */
  readonly onGroup: (id: string) => void
}

/** Shows the selected row: a trajectory with its labels, or a group. */
export function DetailsPanel({ list, focus, onOpen, onRemove, onExport, onGroup }: DetailsPanelProps) {
  const { entry, choices } = list
  return (
    <aside
      ref={focus.panel}
      aria-label="Selected trajectory"
      onKeyDown={(event) => event.key === 'Escape' && focus.leavePanel()}
      className={`min-h-0 overflow-y-auto bg-panel p-3.5 lg:block lg:border-line lg:border-l ${focus.isPanelShown ? '' : 'hidden'}`}
    >
      <Button className="mb-3 lg:hidden" onClick={focus.leavePanel}>
        Back to the list
      </Button>
      {entry?.kind === 'group' ? (
        <GroupDetails entry={entry} onRemove={onRemove} onExport={onExport} onGroup={onGroup} />
      ) : entry?.kind === 'trajectory' ? (
        <TrajectoryDetails
          row={entry.row}
          knownTags={choices?.tags.map(({ tag }) => tag) ?? []}
          onOpen={onOpen}
          onRemove={onRemove}
        />
      ) : (
        <p className="text-faint text-xs">
          Click a row or use the arrow keys to see a trajectory here. Enter opens it, E edits it, Space selects it,
          Delete deletes it. The right arrow expands a group, the left arrow collapses it.
        </p>
      )}
    </aside>
  )
}

interface GroupDetailsProps extends Pick<DetailsPanelProps, 'onRemove' | 'onExport' | 'onGroup'> {
  readonly entry: Extract<TableEntry, { kind: 'group' }>
}

function GroupDetails({ entry: { group, row }, onRemove, onExport, onGroup }: GroupDetailsProps) {
  const { go } = useNavigation()
  return (
    <div>
      <Heading>Group</Heading>
      <GroupFacts group={group} row={row} />
      {group.keys.length > MOST_SAMPLES && (
        <p className="mt-2 text-dim text-xs">
          The first {MOST_SAMPLES} are shown under its row.{' '}
          <button type="button" className="text-accent underline" onClick={() => onGroup(group.id)}>
            Show all
          </button>
        </p>
      )}
      <div className="mt-4 flex flex-wrap gap-2">
        <Button look="primary" onClick={() => go(groupHref(row.key, group.id))}>
          Open in playground
        </Button>
        <Button onClick={() => onExport(group.keys)}>Export…</Button>
        <Button onClick={() => onRemove(group.keys)}>Delete</Button>
      </div>
    </div>
  )
}

interface TrajectoryDetailsProps extends Pick<DetailsPanelProps, 'onOpen' | 'onRemove'> {
  readonly row: TrajectorySummary
  readonly knownTags: readonly string[]
}

function TrajectoryDetails({ row, knownTags, onOpen, onRemove }: TrajectoryDetailsProps) {
  const library = useLibrary()
  return (
    <div>
      <Heading>Labels</Heading>
      <LabelsForm
        key={row.key}
        labels={row}
        question={row.question}
        knownTags={knownTags}
        onChange={(change) => library.label(row.key, change)}
      />
      <Heading>Trajectory</Heading>
      <RowFacts row={row} />
      <div className="mt-4 flex gap-2">
        <Button look="primary" onClick={() => onOpen(row.key)}>
          Open
        </Button>
        <Button onClick={() => onRemove([row.key])}>Delete</Button>
      </div>
    </div>
  )
}

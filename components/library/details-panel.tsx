import { useNavigation } from '#components/shell/navigation.tsx'
import { flatText, outcomeInk, titleText, trajectorySourceText } from '#components/shell/trajectory-rows/row-texts.ts'
import { countText, decimalText, percentText, rewardText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { Fact, Facts, Heading } from '#components/ui/facts.tsx'
import type { GroupSummary, TrajectorySummary } from '#lib/api/library.ts'
import { useLibrary } from '#lib/browser/library/use-library.ts'
import { timeText } from '#lib/util/text/times.ts'
import { healthWords } from './health-marks.tsx'
import { LabelsForm } from './labels-form.tsx'
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
          Click a row or use the arrow keys to see a trajectory here. Enter opens it, e edits it, Space selects it,
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

interface GroupFactsProps {
  readonly group: GroupSummary
  /** The sample that represents the group. */
  readonly row: TrajectorySummary
}

/** Shows facts about a group without its samples. */
function GroupFacts({ group, row }: GroupFactsProps) {
  const { keys, matching, running, rewards, isFlat } = group
  return (
    <>
      <p className="mb-3 [overflow-wrap:anywhere]">{titleText({ ...row, title: null })}</p>
      <Facts>
        <Fact name="samples">
          {countText(keys.length)}
          {matching < keys.length && ` · ${countText(matching)} match`}
          {running > 0 && ` · ${countText(running)} running`}
        </Fact>
        <Fact name="mean reward">{rewardText(rewards?.mean ?? null)}</Fact>
        <Fact name="lowest reward">{rewardText(rewards?.min ?? null)}</Fact>
        <Fact name="highest reward">{rewardText(rewards?.max ?? null)}</Fact>
        {rewards && rewards.known < keys.length && (
          <Fact name="rewards known">{`${countText(rewards.known)} of ${countText(keys.length)}`}</Fact>
        )}
        <Fact name="model">{row.model ?? '—'}</Fact>
        <Fact name="added">{timeText(row.addedAt)}</Fact>
      </Facts>
      {isFlat && <p className="mt-2 text-warn text-xs">{flatText(group)}</p>}
    </>
  )
}

/** Shows facts about a trajectory without opening it. */
function RowFacts({ row }: { readonly row: TrajectorySummary }) {
  return (
    <Facts>
      <Fact name="outcome">
        <span className={outcomeInk(row)}>{row.outcome}</span>
      </Fact>
      <Fact name="segments">
        {countText(row.segments)} · {countText(row.turns)} of the model
      </Fact>
      <Fact name="tokens">{countText(row.tokens)}</Fact>
      <Fact name="trained (mask 1)">
        {countText(row.trained)}
        {row.tokens > 0 && ` · ${percentText(row.trained / row.tokens)}`}
      </Fact>
      {row.rewardWhy !== null && <Fact name="reward">{row.rewardWhy}</Fact>}
      <Fact name="mean logprob">{decimalText(row.meanLogprob)}</Fact>
      <Fact name="tool calls">
        {row.toolCalls === null || row.failedCalls === null
          ? 'unknown'
          : `${countText(row.toolCalls - row.failedCalls)} ✓ ${countText(row.failedCalls)} ✗`}
      </Fact>
      <Fact name="health">{healthWords(row.health)}</Fact>
      <Fact name="model">{row.model ?? '—'}</Fact>
      <Fact name="source">{trajectorySourceText(row.source, row.importFormat)}</Fact>
      <Fact name="made">{timeText(row.createdAt)}</Fact>
      <Fact name="added">{timeText(row.addedAt)}</Fact>
      <Fact name="id">
        <span className="font-mono text-[11px]">{row.id}</span>
      </Fact>
    </Facts>
  )
}

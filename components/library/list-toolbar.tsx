import { ChevronLeft, ChevronRight } from 'lucide-react'
import type { RefObject } from 'react'
import { reportOfLibraryHref } from '#components/shell/hrefs.ts'
import { useNavigation } from '#components/shell/navigation.tsx'
import { rowRangeText } from '#components/shell/trajectory-rows/row-texts.ts'
import { countText } from '#components/token-view/numbers.ts'
import { TrainerCutFields } from '#components/token-view/overview/trainer-cut.tsx'
import { Button } from '#components/ui/button.tsx'
import { Popover } from '#components/ui/popover.tsx'
import type { TrajectoryPage } from '#lib/api/library.ts'
import type { LibraryState } from './address.ts'
import { CutSentence } from './cut-count.tsx'
import { EstimatesChoice } from './estimates-choice.tsx'
import { LibraryFilters } from './library-filters.tsx'
import type { LibraryList } from './use-library-list.ts'

interface ListToolbarProps {
  readonly state: LibraryState
  readonly list: LibraryList
  readonly searchRef: RefObject<HTMLInputElement | null>
}

/** Shows the search, the filters, the trainer's cut and the pages of the list. */
export function ListToolbar({ state, list, searchRef }: ListToolbarProps) {
  const { go } = useNavigation()
  const { page } = list
  return (
    <div className="grid gap-2 border-line border-b px-3.5 py-2 min-[1700px]:flex min-[1700px]:flex-wrap min-[1700px]:justify-between">
      <LibraryFilters
        filter={state.filter}
        choices={list.choices}
        sort={state.sort}
        onFilter={state.setFilter}
        onSort={state.setSort}
        isFolded={state.foldsGroups}
        onFold={(isFolded) => state.setGroups(isFolded ? 'folded' : 'open')}
        hasCut={list.cut !== null}
        searchRef={searchRef}
      />
      {/* This line is there before the list, so that the list appears at its place. */}
      <span className="flex min-h-8 flex-wrap items-center gap-2">
        <CutPopover state={state} list={list} />
        {page && page.total > 0 && state.filter.health !== 'lost' && (
          <Button onClick={() => go(reportOfLibraryHref(list.reported))}>Drift report</Button>
        )}
        {state.filter.group === '' && (
          <EstimatesChoice
            hiddenSamples={state.hidesEstimates ? (page?.hidden ?? 0) : undefined}
            onEstimates={state.setEstimates}
          />
        )}
        {page && <Pager page={page} onCursor={state.setCursor} />}
      </span>
    </div>
  )
}

function CutPopover({ state, list: { page, cut, setCut } }: Pick<ListToolbarProps, 'state' | 'list'>) {
  const count = page?.cut
  return (
    <Popover
      label="Trainer’s cut"
      button={
        cut && count && count.losing > 0 ? `Trainer’s cut: ${countText(count.losing)} lose tokens` : 'Trainer’s cut'
      }
    >
      <div className="grid w-[min(380px,calc(100vw-48px))] gap-3 text-xs">
        <TrainerCutFields cut={cut} onCut={setCut} />
        {cut && count ? (
          <CutSentence count={count} cut={cut} />
        ) : (
          <p className="text-dim">
            Set your trainer’s maximum length to count and mark trajectories that lose trained tokens.
          </p>
        )}
        {count && count.losing > 0 && state.filter.health !== 'lost' && (
          <Button className="justify-self-start" onClick={() => state.setFilter({ health: 'lost' })}>
            Show only these
          </Button>
        )}
      </div>
    </Popover>
  )
}

interface PagerProps {
  readonly page: TrajectoryPage
  readonly onCursor: (cursor: string | undefined) => void
}

/** Shows the range of visible rows, the total, and buttons for the previous and next page. */
function Pager({ page: { trajectories, start, total, previous, next }, onCursor }: PagerProps) {
  return (
    <nav aria-label="Pages of the list" className="ml-auto flex items-center gap-1 tabular-nums">
      <span role="status" className="mr-1 text-dim text-xs" data-range>
        {rowRangeText(start, trajectories.length, total)}
      </span>
      <Button
        look="quiet"
        aria-label="Previous page"
        disabled={previous === undefined}
        onClick={() => onCursor(previous)}
      >
        <ChevronLeft size={16} aria-hidden />
      </Button>
      <Button look="quiet" aria-label="Next page" disabled={next === undefined} onClick={() => onCursor(next)}>
        <ChevronRight size={16} aria-hidden />
      </Button>
    </nav>
  )
}

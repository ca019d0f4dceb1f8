'use client'
/**
 * The inspector: outline, a tab of tokens or other data, and the token card. use-inspection-state.ts creates the state that
 * its parts share.
 */

import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import { useRatioPair, useRatios, withDropped } from '#components/inspector/ratios/use-ratios.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { useAddedColumns } from '#components/shell/use-scoring.ts'
import { whenIdle } from '#components/shell/when-idle.ts'
import { TokenSummaryLine } from '#components/token-view/card/token-summary-line.tsx'
import { SURPRISE_WITH_PROMPT } from '#components/token-view/colour/number-modes.ts'
import { isSingle, single } from '#components/token-view/selection.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { type Pane, Panes } from '#components/ui/panes.tsx'
import { useMedia } from '#components/ui/use-media.ts'
import { useOpenedFile } from '#lib/browser/files/use-opened-file.ts'
import { usePromptLogprobs } from '#lib/browser/rollout/use-prompt-logprobs.ts'
import { isUnscoredAt } from '#lib/trajectory/scoring/prompt-logprobs.ts'
import { takesEncoding, takesTokenizer } from '#lib/trajectory/tokens/texts.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { showTab } from './commands/command-steps.ts'
import { DetailsPane } from './details-pane.tsx'
import type { ListPlace } from './list-walk.tsx'
import { useTokenNotes } from './notes/use-token-notes.ts'
import { OutlinePane } from './outline-pane.tsx'
import { type RegisterPanelCommand, usePanelCommand } from './selection/panel-commands.ts'
import { useInspectionState } from './use-inspection-state.ts'
import { useInspectorCommands } from './use-inspector-commands.ts'
import { useListPlace } from './use-list-place.ts'
import { useTokenControls } from './use-token-controls.ts'
import { ViewButtons } from './view-header.tsx'
import { ViewPane } from './view-pane.tsx'

// The fallback keeps the page: without one, the whole page would suspend, and a key pressed meanwhile would act on an old
// state.
const TokenizerDialog = lazyPart(
  async () => (await import('#components/tokenizer/tokenizer-dialog.tsx')).TokenizerDialog,
)

const NoteDialog = lazyPart(async () => (await import('#components/inspector/notes/note-dialog.tsx')).NoteDialog)

/** Longest time in milliseconds until the panes beside the tokens are drawn. */
const LATEST_SIDES_MS = 300

interface InspectorProps {
  readonly trajectory: TrajectoryView
  readonly storedKey: string | undefined
  /** Key for comparisons, which examples have too. */
  readonly comparedKey: string | undefined
  readonly labels: ReactNode
  /** Position in the list that the page shows; undefined for the list that a stored trajectory was opened from. */
  readonly place: ListPlace | undefined
  readonly children: ReactNode
}

/** Shows a trajectory with all tabs. `labels` and `children` follow the outline. */
export function Inspector({
  trajectory: given,
  storedKey,
  comparedKey,
  labels,
  place: placeOfPage,
  children,
}: InspectorProps) {
  const [pane, setPane] = useState<Pane>('middle')
  const [isChoosing, setIsChoosing] = useState(false)
  // The panes beside the tokens are drawn after them, but those of a selected token have its keys.
  const [isDrawn, setIsDrawn] = useState(false)
  useEffect(() => whenIdle(LATEST_SIDES_MS, () => setIsDrawn(true)), [])
  const { keysWith } = useOpenedFile()
  const { shown, onColumns } = useAddedColumns(given)
  const trajectory = useRatioPair(shown)
  const showMiddle = () => setPane('middle')
  const own = useInspectionState(trajectory, storedKey, comparedKey, showMiddle)
  const ratios = useRatios(own.inspection)
  const marks = useMemo(() => withDropped(own.inspection.marks, ratios), [own.inspection.marks, ratios])
  const inspection = { ...own.inspection, marks }
  const state = { ...own, inspection }
  const { offer } = inspection
  // The pane is shown first, because a hidden element cannot take the focus.
  const offerInDetails = useCallback<RegisterPanelCommand>(
    (name, run) =>
      offer(name, (position) => {
        flushSync(() => setPane('right'))
        run(position)
      }),
    [offer],
  )
  // The fields are drawn and shown first.
  const editLabels = () => {
    flushSync(() => {
      setIsDrawn(true)
      setPane('left')
    })
    document.querySelector<HTMLElement>('[data-labels] input')?.focus()
  }
  usePanelCommand(offer, 'labels', storedKey === undefined ? undefined : editLabels)
  const { selection, tab } = inspection.view
  const hasSides = isDrawn || selection !== undefined
  const isPromptTokenSelected = selection !== undefined && isSingle(selection) && isUnscoredAt(given, selection.focus)
  const promptLogprobs = usePromptLogprobs(
    given,
    storedKey,
    isPromptTokenSelected || inspection.colouring.mode.name === SURPRISE_WITH_PROMPT.name,
  )
  const controls = useTokenControls()
  const notes = useTokenNotes(inspection, own.link)
  const placeOfStored = useListPlace(given, storedKey)
  const place = placeOfPage ?? placeOfStored
  const commands = useInspectorCommands({ state, controls, place, onShowMiddle: showMiddle })
  const leaveField = ({ key, target, nativeEvent }: KeyboardEvent) => {
    const isField = target instanceof Element && target.matches('aside :is(input, textarea):not([popover] *)')
    // While an input method composes a character, Escape cancels it.
    if (key !== 'Escape' || !isField || nativeEvent.isComposing) return
    flushSync(showMiddle)
    showTab(commands.screen, tab)
  }
  const shownToken = tokenAt(trajectory, selection?.focus ?? inspection.pointed ?? -1)
  // In the Messages tab a selection stays in that tab, which also shows it.
  const choose = (index: number) => inspection.onSelect(single(index), tab === 'messages' ? undefined : 'tokens')
  const onChooseTokenizer =
    storedKey !== undefined && takesTokenizer(trajectory) ? () => setIsChoosing(true) : undefined
  // A narrow row is too short for the tabs and the buttons.
  const isNarrow = useMedia('(max-width: 1023px)')
  const buttons = <ViewButtons {...{ inspection, controls }} onCommands={commands.screen.page.showPalette} />
  return (
    <>
      <Panes
        shown={pane}
        onShow={setPane}
        onKeyDown={leaveField}
        names={['Outline', 'Tokens', 'Details']}
        buttons={isNarrow && buttons}
        gist={shownToken && <TokenSummaryLine token={shownToken} vocab={trajectory.vocab} />}
        left={
          hasSides && (
            <OutlinePane {...{ inspection, ratios, place, notes, labels, onChooseTokenizer }} onChoose={choose}>
              {children}
            </OutlinePane>
          )
        }
        middle={
          <ViewPane
            {...{ state, ratios, controls, commands, storedKey, onChooseTokenizer }}
            buttons={!isNarrow && buttons}
          >
            {promptLogprobs.failure && (
              <Banner
                tone={promptLogprobs.failure.retry ? 'bad' : 'note'}
                title={promptLogprobs.failure.title}
                hint={promptLogprobs.failure.hint}
              >
                {promptLogprobs.failure.retry && <Button onClick={promptLogprobs.failure.retry}>Try again</Button>}
              </Banner>
            )}
          </ViewPane>
        }
        right={
          hasSides && (
            <DetailsPane
              {...{ storedKey, ratios, onColumns }}
              state={{ ...state, inspection: { ...inspection, offer: offerInDetails } }}
              shown={shownToken}
              isRequesting={promptLogprobs.isRequesting}
              onChoose={choose}
            />
          )
        }
      />
      {notes.draft && <NoteDialog {...notes} draft={notes.draft} trajectory={trajectory} />}
      {storedKey !== undefined && isChoosing && (
        <TokenizerDialog
          storedKey={storedKey}
          tokenizer={trajectory.model.tokenizer?.name}
          parser={trajectory.model.parser}
          modelName={trajectory.model.name}
          encodesMessages={takesEncoding(trajectory)}
          others={keysWith(storedKey).filter((key) => key !== storedKey)}
          onClose={() => setIsChoosing(false)}
        />
      )}
    </>
  )
}

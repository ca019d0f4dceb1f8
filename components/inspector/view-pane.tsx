'use client'
import { type ComponentType, type ReactNode, useId } from 'react'
import { StatusLine } from '#components/commands/status-line.tsx'
import type { RatiosState } from '#components/inspector/ratios/use-ratios.ts'
import { selectionStatus } from '#components/inspector/selection/selection-status.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { UNMOVED_FOCUS } from '#components/shell/pages.ts'
import { usePageKeys } from '#components/shell/use-page-keys.ts'
import { keyName } from '#components/token-view/key-name.ts'
import { TabPanel } from '#components/ui/tabs.tsx'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { isKeyOfTokens } from './commands/commands.ts'
import type { InspectorPartProps, InspectorTab } from './inspection.ts'
import { InspectorPalette } from './inspector-palette.tsx'
import { InspectorNotices } from './notices.tsx'
import { TokenTab } from './token-tab.tsx'
import type { InspectionState } from './use-inspection-state.ts'
import type { InspectorCommands } from './use-inspector-commands.ts'
import type { TokenControls } from './use-token-controls.ts'
import { ViewHeader } from './view-header.tsx'
import { LaterParts } from './warm-up/later-parts.tsx'

/** The tabs of the inspector besides Tokens, in their order. Each is loaded when it is first shown. */
const OTHER_TABS: Readonly<Record<Exclude<InspectorTab, 'tokens'>, ComponentType<InspectorPartProps>>> = {
  messages: lazyPart(async () => (await import('#components/inspector/messages/messages-tab.tsx')).MessagesTab),
  requests: lazyPart(async () => (await import('#components/inspector/requests/requests-tab.tsx')).RequestsTab),
  charts: lazyPart(async () => (await import('#components/inspector/charts/charts-tab.tsx')).ChartsTab),
  trainer: lazyPart(async () => (await import('#components/inspector/trainer/trainer-tab.tsx')).TrainerTab),
  raw: lazyPart(async () => (await import('#components/inspector/raw/raw-tab.tsx')).RawTab),
}

interface ViewPaneProps {
  readonly state: InspectionState
  readonly ratios: RatiosState
  readonly controls: TokenControls
  readonly commands: InspectorCommands
  readonly storedKey: string | undefined
  /** `undefined` means that the trajectory cannot have another tokenizer. */
  readonly onChooseTokenizer: (() => void) | undefined
  /** Buttons after the tabs. */
  readonly buttons: ReactNode
  /** Messages about the trajectory, above its health. */
  readonly children: ReactNode
}

/** Shows the tabs with the messages above and the status line below. */
export function ViewPane({
  state,
  ratios,
  controls,
  commands,
  storedKey,
  onChooseTokenizer,
  buttons,
  children,
}: ViewPaneProps) {
  const { inspection, said: message } = state
  const { tab, selection } = inspection.view
  const id = useId()
  usePageKeys((event) => {
    // A page that was just opened has no focus, nor has one after a click beside its controls.
    if (!(event.target instanceof Element && event.target.matches(UNMOVED_FOCUS)) || event.defaultPrevented) return
    const key = keyName(event)
    // Keys that scroll or select text keep their meaning in the other tabs.
    if (tab !== 'tokens') {
      if (key.length === 1) commands.runKey(event)
    } else if (isKeyOfTokens(key)) inspection.grid.current?.press(event)
  })
  const OtherTab = tab === 'tokens' ? undefined : OTHER_TABS[tab]
  return (
    <div className="grid h-full grid-cols-[minmax(0,1fr)] grid-rows-[auto_auto_minmax(0,1fr)_auto]">
      <ViewHeader inspection={inspection} id={id}>
        {buttons}
      </ViewHeader>
      <InspectorNotices inspection={inspection} storedKey={storedKey} onChooseTokenizer={onChooseTokenizer}>
        {children}
        <LaterParts.HealthStrip inspection={inspection} />
      </InspectorNotices>
      <div className="grid min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)]">
        <TabPanel id={id} value="tokens" isShown={tab === 'tokens'}>
          <TokenTab state={state} ratios={ratios} controls={controls} onKey={commands.runKey} />
        </TabPanel>
        {OtherTab && (
          <TabPanel id={id} value={tab} isShown>
            <div className="h-full overflow-auto">
              <OtherTab inspection={inspection} />
            </div>
          </TabPanel>
        )}
      </div>
      <StatusLine text={selectionStatus(selection, tokenCount(inspection.trajectory))} message={message} />
      <InspectorPalette commands={commands} />
    </div>
  )
}

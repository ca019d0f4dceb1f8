import { GitCompare, SlidersHorizontal, TrendingDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { TokenViewButtons } from '#components/commands/token-view-buttons.tsx'
import { markKindsOf } from '#components/token-view/token-marks.ts'
import { Button } from '#components/ui/button.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { TabList } from '#components/ui/tabs.tsx'
import { isTextOnly } from '#lib/trajectory/tokens/texts.ts'
import { INSPECTOR_TABS, type InspectorPartProps, type InspectorTab, TAB_TITLES } from './inspection.ts'
import type { TokenControls } from './use-token-controls.ts'

interface ViewHeaderProps extends InspectorPartProps {
  /** Id of the tabs. */
  readonly id: string
  /** Buttons after the tabs. */
  readonly children: ReactNode
}

/** Shows the tabs of the view. */
export function ViewHeader({ inspection, id, children }: ViewHeaderProps) {
  const { view, onView } = inspection
  // Without tokens there is nothing to show in a grid.
  const tabs = isTextOnly(inspection.trajectory) ? INSPECTOR_TABS.filter((tab) => tab !== 'tokens') : INSPECTOR_TABS
  return (
    <div className="flex items-center gap-x-3 border-line border-b px-3.5">
      <TabList<InspectorTab>
        id={id}
        label="View"
        value={view.tab}
        onChange={(tab) => onView({ tab })}
        tabs={tabs.map((value) => ({ value, text: TAB_TITLES[value] }))}
      />
      {children}
    </div>
  )
}

interface ViewButtonsProps extends InspectorPartProps {
  readonly controls: TokenControls
  readonly onCommands: () => void
}

/** Shows the buttons that change the token view: after the tabs, or beside the switch of the panes in a narrow window. */
export function ViewButtons({ inspection, controls, onCommands }: ViewButtonsProps) {
  const { view, onCompare, storedKey } = inspection
  const { legend, options, onOptions, hasTools, onTools, hasValue, onValue } = controls
  return (
    <span className="ml-auto flex shrink-0 items-center gap-1">
      {view.tab === 'tokens' && (
        <span className="lg:hidden">
          <IconButton label="Colours and find" isPressed={hasTools} onClick={() => onTools(!hasTools)}>
            <SlidersHorizontal size={15} aria-hidden />
          </IconButton>
        </span>
      )}
      {view.tab === 'tokens' && storedKey !== undefined && (
        <Button
          aria-label="Value of tokens"
          aria-pressed={hasValue}
          aria-keyshortcuts="v"
          title="Value of tokens: where the reward was lost (v)"
          className="aria-pressed:bg-accent-soft max-sm:px-1.5"
          onClick={() => onValue(!hasValue)}
        >
          <TrendingDown size={15} aria-hidden className="sm:hidden" />
          <span className="max-sm:hidden">Value</span>
        </Button>
      )}
      {onCompare && (
        // In a narrow window it is a command only, so that the buttons fit beside the switch of the panes.
        <span className="max-sm:hidden">
          <IconButton label="Compare with retokenized" onClick={() => onCompare('messages')}>
            <GitCompare size={15} aria-hidden />
          </IconButton>
        </span>
      )}
      <TokenViewButtons
        onCommands={onCommands}
        legend={legend}
        shown={{
          view: 'inspector',
          trajectories: [inspection.trajectory],
          markKinds: markKindsOf(inspection.marks),
          isSelected: view.selection !== undefined,
        }}
        folding={inspection}
        options={options}
        onOptions={onOptions}
      />
    </span>
  )
}
